import { requireTableAction } from '../../binding/table-source.ts';
import type { ObjectName } from '../../statement/statement.ts';
import { paged, textResult } from '../../operation/answer.ts';
import { rowsCommand } from '../rows-command.ts';
import { printCreateView } from '../view/print-create-view.ts';
import { loadMaterializedView } from '../view/load-materialized-view.ts';

/** `SHOW CREATE MATERIALIZED VIEW name`: the statement that makes the view, when its schema is the current one */
export const showCreateMaterializedView = rowsCommand<{ readonly name: ObjectName }>({
  words: ['SHOW CREATE MATERIALIZED VIEW'],
  queryType: 'show',
  timeout: 'coordinator',
  parse(reader) {
    reader.words(4);
    const name = reader.name('a materialized view', 3);
    reader.end();
    return { name };
  },
  action: () => 'view.describe',
  async rows({ name }, context) {
    const view = await loadMaterializedView(name, context);
    requireTableAction(view, 'table.describe');
    return paged(textResult(['create_statement'], [[printCreateView(view)]]));
  },
});
