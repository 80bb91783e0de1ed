import { COUNT_COLUMNS } from '../sink/count-batch.ts';
import { takeAlias, takeWhere } from './clause/row-clauses.ts';
import type { Command, Delete } from './command.ts';

/** `DELETE FROM [catalog.][schema.]table [[AS] alias] [USING tables] [WHERE condition]` */
export const deleteFrom: Command<Delete> = {
  words: ['DELETE FROM'],
  queryType: 'delete',
  timeout: 'session',
  parse(reader) {
    reader.words(2);
    const table = reader.name('a table', 3);
    const alias = takeAlias(reader);
    const rest = reader.rest();
    const from = reader.takeWord('USING') ? reader.clause('a table', 'WHERE', 'RETURNING') : null;
    const where = takeWhere(reader);
    reader.end();
    return { table, alias, from, where, rest };
  },
  action: () => 'table.commit',
  async describe(input, { writes }) {
    return { columns: COUNT_COLUMNS, parameters: await writes.describe({ kind: 'delete', input }) };
  },
  async run(input, { writes, answerCount }) {
    const { count, ...outcome } = await writes.delete(input);
    return { ...(await answerCount(count)), ...outcome };
  },
};
