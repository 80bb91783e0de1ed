import type { TextSpan } from '../statement/statement.ts';
import type { StatementReader } from '../statement/statement-reader.ts';
import type { Command, Delete } from './command.ts';

/** `DELETE FROM [catalog.][schema.]table [[AS] alias] [WHERE condition]` */
export const deleteFrom: Command<Delete> = {
  words: ['DELETE FROM'],
  queryType: 'delete',
  timeout: 'session',
  parse(reader) {
    reader.words(2);
    const table = reader.name('a table', 3);
    const alias = takeAlias(reader);
    refuseClause(reader, 'USING');
    const where = takeWhere(reader);
    reader.end();
    return { table, alias, where };
  },
  action: () => 'table.commit',
  async run(input, { writes, answerCount }) {
    const { count, ...outcome } = await writes.delete(input);
    return { ...(await answerCount(count)), ...outcome };
  },
};

/** Words that may follow the name of the table, and are no alias unless they are quoted. */
const CLAUSES: ReadonlySet<string> = new Set(['SET', 'USING', 'WHERE', 'RETURNING']);

/** `[AS] alias`; null when there is none. @throws SYNTAX_ERROR */
function takeAlias(reader: StatementReader): string | null {
  const isNamed = reader.takeWord('AS');
  if (!isNamed && CLAUSES.has(reader.peekWord())) return null;
  const alias = reader.takeName();
  if (alias === null && isNamed) throw reader.expected('an alias');
  return alias;
}

/** `WHERE condition`; null when there is none. @throws SYNTAX_ERROR, NOT_SUPPORTED for RETURNING */
function takeWhere(reader: StatementReader): TextSpan | null {
  const where = reader.takeWord('WHERE') ? reader.expression('a condition', 'RETURNING') : null;
  refuseClause(reader, 'RETURNING');
  return where;
}

function refuseClause(reader: StatementReader, word: string): void {
  if (reader.peekWord() === word) throw reader.error('NOT_SUPPORTED', `${word} is not served here`);
}
