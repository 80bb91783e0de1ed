import { COUNT_COLUMNS } from '../sink/count-batch.ts';
import { takeAlias, takeSet, takeWhere } from './clause/row-clauses.ts';
import type { Command, Update } from './command.ts';

/** `UPDATE [catalog.][schema.]table [[AS] alias] SET column = value | DEFAULT, ... [FROM tables] [WHERE condition]` */
export const update: Command<Update> = {
  words: ['UPDATE'],
  queryType: 'update',
  timeout: 'session',
  parse(reader) {
    reader.words(1);
    const table = reader.name('a table', 3);
    const alias = takeAlias(reader);
    const rest = reader.rest();
    if (!reader.takeWord('SET')) throw reader.expected('SET');
    const set = takeSet(reader, 'FROM', 'WHERE', 'RETURNING');
    const from = reader.takeWord('FROM') ? reader.clause('a table', 'WHERE', 'RETURNING') : null;
    const where = takeWhere(reader);
    reader.end();
    return { table, alias, set, from, where, rest };
  },
  action: () => 'table.commit',
  async describe(input, { writes }) {
    return { columns: COUNT_COLUMNS, parameters: await writes.describe({ kind: 'update', input }) };
  },
  async run(input, { writes, answerCount }) {
    const { count, ...outcome } = await writes.update(input);
    return { ...(await answerCount(count)), ...outcome };
  },
};
