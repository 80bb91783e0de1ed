import { requireTableAction } from '../../binding/table-source.ts';
import type { ObjectName } from '../../statement/statement.ts';
import { paged, textResult } from '../../operation/answer.ts';
import { withNamePosition } from '../../operation/with-name-position.ts';
import { qualify } from '../../operation/qualify.ts';
import { rowsCommand } from '../rows-command.ts';
import { printCreateView } from './print-create-view.ts';
import { loadPlainView } from './view-place.ts';

/** `SHOW CREATE VIEW name`: the statement that makes the view, when its schema is the current one */
export const showCreateView = rowsCommand<{ readonly name: ObjectName }>({
  words: ['SHOW CREATE VIEW'],
  queryType: 'show',
  timeout: 'coordinator',
  parse(reader) {
    reader.words(3);
    const name = reader.name('a view', 3);
    reader.end();
    return { name };
  },
  action: () => 'view.describe',
  async rows({ name }, context) {
    const view = await withNamePosition(
      name,
      loadPlainView(context.tables, await qualify(name, context), context.signal),
    );
    requireTableAction(view, 'table.describe');
    return paged(textResult(['create_statement'], [[printCreateView(view)]]));
  },
});
