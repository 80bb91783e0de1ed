import { refuseClause, takeAlias, takeWhere } from './clause/row-clauses.ts';
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
