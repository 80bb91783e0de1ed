import type { ObjectName } from '../statement/statement.ts';
import { paged } from '../operation/answer.ts';
import { describeTable } from './describe-table.ts';
import { rowsCommand } from './rows-command.ts';

/** `SHOW COLUMNS FROM t`, which is `DESCRIBE t`. */
export const showColumns = rowsCommand<{ readonly table: ObjectName }>({
  words: ['SHOW COLUMNS'],
  queryType: 'show',
  timeout: 'coordinator',
  parse(reader) {
    reader.words(2);
    if (!reader.takeWord('FROM') && !reader.takeWord('IN')) throw reader.expected('FROM or IN');
    const table = reader.name('a table', 3);
    reader.end();
    return { table };
  },
  action: () => 'table.describe',
  rows: async ({ table }, context) => paged(await describeTable(table, context)),
});
