import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { statusResult } from '../operation/answer.ts';
import type { Command } from './command.ts';
import type { Definition } from '../operation/prepared-statements.ts';

/** `PREPARE name [(types)] AS statement`. Parameters of the statement are its own: they get their values from EXECUTE. */
export const prepare: Command<Definition> = {
  words: ['PREPARE'],
  queryType: 'set',
  timeout: 'session',
  parse(reader) {
    reader.word();
    const { parts, position } = reader.name('a prepared statement', 1);
    const types = reader.peekSymbol('(') ? reader.list('a type') : [];
    if (!reader.takeWord('AS')) throw reader.expected('AS');
    if (reader.atEnd()) throw reader.expected('a statement');
    return {
      name: foldIdentifier(parts.join('')),
      position,
      types: types.map(({ text }) => text),
      statement: reader.takeRest(),
    };
  },
  action: () => null,
  async run(definition, { prepared, answer }) {
    await prepared.prepare(definition);
    return answer(statusResult('PREPARE'));
  },
};
