import { SkeinError } from '#shared/error.ts';
import { ADDRESS_IDS } from '#shared/iceberg/address-columns.ts';
import type { Field } from '#shared/iceberg/type.ts';
import { must } from '#shared/must.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import type { Description } from '../operation/description.ts';
import type { WriteOutcome, WriteTarget } from '../operation/writes.ts';
import { requireUnmasked } from '../operation/policed-table.ts';
import type { Update } from '../operation/row-write.ts';
import { printSqlType, type SqlField } from '../plan/sql-type.ts';
import { icebergSqlType } from '../plan/iceberg-sql-type.ts';
import type { DerivedText } from '../statement/derived-text.ts';
import type { AsProven, Proven } from '../statement/proven.ts';
import { SplicedText } from '../statement/spliced-text.ts';
import { targetSource } from './target-name.ts';
import { requireAssignable, type Assignment } from './assign-columns.ts';
import { printMatching } from './matched-rows.ts';
import { missingColumn } from './missing-column.ts';
import { addressedTarget, readTarget, withRestarts, type RowServices } from './replace-rows.ts';
import { planReturning } from './returned-rows.ts';
import { rewriteQuery } from './rewrite-query.ts';
import { writeNewRows } from './write-new-rows.ts';

const LAST_UPDATED = ADDRESS_IDS._last_updated_sequence_number;

/**
 * Changes the rows for which a condition holds, in one snapshot:
 * ```
 * one query ─▶ files with the new rows                                      ─▶ one commit
 *          └─▶ the addresses of the old ones ─▶ they go as those of a DELETE ─┘
 * ```
 * Values and condition are evaluated once.
 */
export const updateRows = (input: Update<AsProven>, services: RowServices): Promise<WriteOutcome> =>
  withRestarts(services, () => updateOnce(input, services));

/** The query of the new rows, and of the addresses of the old ones. */
export const updateQuery = (input: Update<AsProven>, target: WriteTarget): DerivedText =>
  newRows(target, { ...input, columns: newColumns(input.set, target) });

/** The types of the parameters. */
export async function describeUpdate(
  input: Update<AsProven>,
  { target: targetOf, queries }: RowServices,
): Promise<Description['parameters']> {
  const target = await addressedTarget(input.table, targetOf);
  const columns = newColumns(input.set, target);
  const { columns: given, parameters } = await queries.describe(input.rest, newRows(target, { ...input, columns }));
  if (given !== null) requireTypes(columns, given);
  return parameters;
}

async function updateOnce(input: Update<AsProven>, services: RowServices): Promise<WriteOutcome> {
  const table = await readTarget(input.table, services);
  requireUnmasked(table.target, 'UPDATE', input.table.position);
  const returning = await planReturning(input, table.target, { queries: services.queries, of: 'written' });
  const columns = newColumns(input.set, table.target);
  return writeNewRows(
    {
      ...table,
      returning,
      verb: 'update',
      name: input.table,
      query: input.rest,
      text: newRows(table.target, { ...input, columns }),
      assignments: columns,
      check: (given) => requireTypes(columns, given),
    },
    services,
  );
}

/** The source of a column in a query of new rows; `source` is its column. */
type NewColumn = Assignment & { readonly value: Proven<'expression'> | null };

/**
 * The columns of the new rows: those that are set come first, in the order of the statement. Of the lineage a row keeps its id.
 * @throws COLUMN_NOT_FOUND, SYNTAX_ERROR for one that is set twice
 */
function newColumns(set: Update<AsProven>['set'], target: WriteTarget): readonly NewColumn[] {
  const { fields } = rewriteQuery(target).schema;
  const own = new Map(target.schema.fields.map((field) => [foldIdentifier(field.name), field]));
  const columns = new Map<Field, NewColumn>();
  let source = 0;
  for (const { name, position, value } of set) {
    const field = own.get(foldIdentifier(name));
    if (field === undefined) throw missingColumn(target.schema.fields, name, position);
    if (columns.has(field)) throw new SkeinError('SYNTAX_ERROR', `column ${name} is set twice`, { position });
    columns.set(field, { field, source: value === null ? null : source++, value });
  }
  const kept = fields.filter((field) => !columns.has(field) && field.id !== LAST_UPDATED);
  for (const field of kept) columns.set(field, { field, source: source++, value: null });
  return fields.map((field) => columns.get(field) ?? { field, source: null, value: null });
}

/** The new rows, with the addresses of the old ones. */
function newRows(
  target: WriteTarget,
  { columns, ...matching }: Update<AsProven> & { readonly columns: readonly NewColumn[] },
): DerivedText {
  const { alias, rest } = matching;
  const { qualifier: t } = targetSource(target, alias);
  const text = new SplicedText(rest).insert('SELECT ');
  for (const { field, value } of inOrder(columns)) {
    if (value === null) text.insert(`${t}.${quoteIdentifier(field.name)}`);
    else if (foldIdentifier(value.text) === 'null') {
      // So is a parameter that has no value yet: it takes the column's type.
      text
        .insert('CAST(')
        .splice(value)
        .insert(` AS ${printSqlType(icebergSqlType(field.type))})`);
    } else text.splice(value);
    text.insert(', ');
  }
  text.insert(`${t}._file, ${t}._pos, true `);
  printMatching(text, target, matching);
  return text;
}

const inOrder = (columns: readonly NewColumn[]): readonly NewColumn[] =>
  columns.filter(({ source }) => source !== null).toSorted((a, b) => (a.source ?? 0) - (b.source ?? 0));

/** @throws TYPE_MISMATCH at the place of the value */
function requireTypes(columns: readonly NewColumn[], given: readonly SqlField[]): void {
  for (const { field, source, value } of columns) {
    if (source === null || value === null) continue;
    requireAssignable(field, must(given[source], 'a column of the query').type, value.offset);
  }
}
