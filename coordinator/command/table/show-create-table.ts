import { loadOneTable } from '../../catalog-client/catalog-browser.ts';
import type { ObjectName } from '../../statement/statement.ts';
import { paged, textResult } from '../../operation/answer.ts';
import { withNamePosition } from '../../operation/with-name-position.ts';
import { qualify } from '../../operation/qualify.ts';
import { rowsCommand } from '../rows-command.ts';
import { printCreateTable } from './print-create-table.ts';

/** `SHOW CREATE TABLE name`: the statement that makes a table of the same shape */
export const showCreateTable = rowsCommand<{ readonly name: ObjectName }>({
  words: ['SHOW CREATE TABLE'],
  queryType: 'show',
  timeout: 'coordinator',
  parse(reader) {
    reader.words(3);
    const name = reader.name('a table', 3);
    reader.end();
    return { name };
  },
  action: () => 'table.describe',
  async rows({ name }, context) {
    const wanted = await qualify(name, context);
    const table = await withNamePosition(name, loadOneTable(context.tables, wanted, context.signal));
    return paged(textResult(['create_statement'], [[printCreateTable(table.name, table.metadata)]]));
  },
});
