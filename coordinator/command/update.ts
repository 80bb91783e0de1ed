import { answerWrite } from './answer-write.ts';
import { takeAlias, takeSet, takeReturning, takeWhere } from './clause/row-clauses.ts';
import type { Command } from './command.ts';
import type { Update } from '../operation/row-write.ts';

/** `UPDATE [catalog.][schema.]table [[AS] alias] SET column = value | DEFAULT, ... [FROM tables] [WHERE condition] [RETURNING ...]` */
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
    const returning = takeReturning(reader);
    reader.end();
    return { table, alias, set, from, where, returning, rest };
  },
  action: () => 'table.commit',
  describe: (input, { writes }) => writes.describe({ kind: 'update', input }),
  run: async (input, context) => answerWrite(input, await context.writes.update(input), context),
};
