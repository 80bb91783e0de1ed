import { quoteIdentifier } from '#shared/sql/quote.ts';
import { printSqlType } from '../../plan/sql-type.ts';
import { fieldType } from '../../plan/iceberg-sql-type.ts';
import { schemaOf, type ViewDefinition } from '../../binding/view-definition.ts';

/**
 * The rows of `source`, which is what may stand in FROM, under the names and types of a view's columns. A value of another type is
 * converted as the view says; a column that is not there any more is an error.
 */
export function castToView(view: Pick<ViewDefinition, 'schema' | 'intervals'>, source: string): string {
  const columns = schemaOf(view).fields.map((field) => {
    const column = quoteIdentifier(field.name);
    const type = view.intervals.includes(field.name) ? 'INTERVAL' : printSqlType(fieldType(field).type);
    return `CAST("v".${column} AS ${type}) AS ${column}`;
  });
  return `SELECT ${columns.join(', ')} FROM ${source} AS "v"`;
}

/** A row of NULLs under the names and types of a view's columns, as a subquery. */
export const typedNulls = (view: Pick<ViewDefinition, 'schema'>): string =>
  `(SELECT ${schemaOf(view)
    .fields.map((field) => `CAST(NULL AS ${printSqlType(fieldType(field).type)}) AS ${quoteIdentifier(field.name)}`)
    .join(', ')})`;
