import type { StatementReader } from '../../statement/statement-reader.ts';
import { defined, takeAnyName, takeClauses } from './clauses.ts';
import { principalCommand } from './principal-command.ts';

/** `CREATE PERSONAL ACCESS TOKEN name [FOR user] [TTL 'n days'] [SCOPE 'words']` */
export const createToken = principalCommand({
  words: ['CREATE PERSONAL ACCESS TOKEN'],
  parse(reader) {
    reader.words(4);
    const name = takeAnyName(reader, 'a token');
    const given = takeClauses(reader, { FOR: 'name', TTL: 'text', SCOPE: 'text' });
    const days = given.TTL === undefined ? undefined : daysOf(reader, given.TTL);
    reader.end();
    return { kind: 'create_token', name, owner: given.FOR ?? null, ...defined({ days, scope: given.SCOPE }) };
  },
});

function daysOf(reader: StatementReader, text: string): number {
  const [, days] = /^\s{0,9}(\d{1,9})\s{1,9}days?\s{0,9}$/i.exec(text) ?? [];
  if (days === undefined) throw reader.error('SYNTAX_ERROR', "TTL is a text such as '30 days'");
  return Number(days);
}
