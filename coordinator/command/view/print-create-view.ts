import { quoteIdentifier, quoteLiteral } from '#shared/sql/quote.ts';
import { schemaName } from '../../catalog-client/catalog-browser.ts';
import type { LoadedView } from '../../binding/table-source.ts';
import { ownRepresentation, schemaOf } from '../../binding/view-definition.ts';

/**
 * The statement that makes a view, when the session's schema is the view's. The query of another engine's view is shown in the first dialect
 * that it has.
 */
export function printCreateView({ name, view }: LoadedView): string {
  const { properties, representations } = view;
  const path = [name.catalog, schemaName(name.namespace), name.table].map(quoteIdentifier).join('.');
  const columns = schemaOf(view).fields.map(
    ({ name: column, doc }) => `${quoteIdentifier(column)}${doc === undefined ? '' : ` COMMENT ${quoteLiteral(doc)}`}`,
  );
  const { comment } = properties;
  const query = (ownRepresentation(view) ?? representations[0])?.sql ?? '';
  return [
    `CREATE ${view.storageTable === null ? '' : 'MATERIALIZED '}VIEW ${path} (`,
    `  ${columns.join(',\n  ')}`,
    ')',
    ...(comment === undefined ? [] : [`COMMENT ${quoteLiteral(comment)}`]),
    `AS ${query}`,
  ].join('\n');
}
