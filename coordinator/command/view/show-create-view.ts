import { quoteIdentifier, quoteLiteral } from '#shared/sql/quote.ts';
import { schemaName } from '../../catalog-client/catalog-browser.ts';
import { requireTableAction, type LoadedView } from '../../resolver/table-source.ts';
import { ownRepresentation } from '../../resolver/view/view-definition.ts';
import type { ObjectName } from '../../statement/statement.ts';
import { paged, textResult } from '../answer.ts';
import { atName } from '../at-name.ts';
import { qualify } from '../qualify.ts';
import { rowsCommand } from '../rows-command.ts';
import { loadView } from './view-place.ts';

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
    const view = await atName(name, loadView(context.tables, await qualify(name, context), context.signal));
    requireTableAction(view, 'table.describe');
    return paged(textResult(['create_statement'], [[printCreateView(view)]]));
  },
});

/** The query of another engine's view is shown in the first dialect that it has. */
function printCreateView({ name, view }: LoadedView): string {
  const { schema, properties, representations } = view;
  const path = [name.catalog, schemaName(name.namespace), name.table].map(quoteIdentifier).join('.');
  const columns = schema.fields.map(
    ({ name: column, doc }) => `${quoteIdentifier(column)}${doc === undefined ? '' : ` COMMENT ${quoteLiteral(doc)}`}`,
  );
  const { comment } = properties;
  const query = (ownRepresentation(view) ?? representations[0])?.sql ?? '';
  return [
    `CREATE VIEW ${path} (`,
    `  ${columns.join(',\n  ')}`,
    ')',
    ...(comment === undefined ? [] : [`COMMENT ${quoteLiteral(comment)}`]),
    `AS ${query}`,
  ].join('\n');
}
