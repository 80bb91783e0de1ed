import { answerWrite } from './answer-write.ts';
import { takeAlias, takeReturning, takeWhere } from './clause/row-clauses.ts';
import type { Command } from './command.ts';
import type { Delete } from '../operation/row-write.ts';

/** `DELETE FROM [catalog.][schema.]table [[AS] alias] [USING tables] [WHERE condition] [RETURNING ...]` */
export const deleteFrom: Command<Delete> = {
  words: ['DELETE FROM'],
  tag: 'DELETE',
  queryType: 'delete',
  timeout: 'session',
  parse(reader) {
    reader.words(2);
    const table = reader.name('a table', 3);
    const alias = takeAlias(reader);
    const rest = reader.rest();
    const from = reader.takeWord('USING') ? reader.clause('a table', 'WHERE', 'RETURNING') : null;
    const where = takeWhere(reader);
    const returning = takeReturning(reader);
    reader.end();
    return { table, alias, from, where, returning, rest };
  },
  action: () => 'table.commit',
  describe: (input, { writes }) => writes.describe({ kind: 'delete', input }),
  run: async (input, context) => answerWrite(input, await context.writes.delete(input), context),
};
