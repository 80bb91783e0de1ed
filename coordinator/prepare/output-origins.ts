import { currentSchema } from '#shared/iceberg/table-metadata.ts';
import { unreachable } from '#shared/must.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import type { OutputColumns, OutputQuery, OutputSource, QueryReferences } from '../binding/query-references.ts';
import type { RelationColumn } from '../binding/relation-column.ts';
import type { BoundScan, BoundTable, BoundView } from '../resolver/bind-tables.ts';

/** Columns of a query, with those of its tables that they are; null = computed. */
type NamedOrigin = { readonly name: string; readonly origin: RelationColumn | null };

/** Columns that are followed: a chain of queries may double them again and again. */
const COLUMNS_MAX = 10_000;

/**
 * The columns of tables and views that a query's columns are as they are, by their places; null where a column is computed, or its origin is
 * not known. As in Postgres a column of a view is the view's own, and so is one with policies.
 */
export function outputOrigins(
  { outputs }: Pick<QueryReferences, 'outputs'>,
  tables: readonly (BoundTable | BoundView)[],
): readonly NamedOrigin[] {
  const known: (readonly NamedOrigin[] | null)[] = [];
  let left = COLUMNS_MAX;
  for (const query of outputs) {
    const columns = left > 0 ? columnsOf(query, known, tables) : null;
    left -= columns?.length ?? 0;
    known.push(columns);
  }
  return known.at(-1) ?? [];
}

/** The columns of a result with their origins. */
export function withOrigins<Column extends { readonly name: string }>(
  columns: readonly Column[],
  origins: readonly NamedOrigin[],
): readonly (Column & { readonly origin?: RelationColumn })[] {
  if (origins.length !== columns.length || origins.every(({ origin }) => origin === null)) return columns;
  return columns.map((column, i) => {
    const { name = '', origin = null } = origins[i] ?? {};
    return origin === null || foldIdentifier(column.name) !== name ? column : { ...column, origin };
  });
}

type Given = { readonly source: OutputSource; readonly columns: readonly NamedOrigin[] | null };

/** Null when a star stands for columns that are not known, or for too many. */
function columnsOf(
  { columns, from, isComputed }: OutputQuery,
  known: readonly (readonly NamedOrigin[] | null)[],
  tables: readonly (BoundTable | BoundView)[],
): readonly NamedOrigin[] | null {
  const given = from.map((source): Given => ({ source, columns: renamed(source, known, tables) }));
  const found: NamedOrigin[] = [];
  for (const one of columns) {
    const these = givenColumns(one, given);
    if (these === null || found.length + these.length > COLUMNS_MAX) return null;
    for (const { name, origin } of these) found.push({ name, origin: isComputed ? null : origin });
  }
  return found;
}

/** The columns that a part of the SELECT list means; null when they are not known. */
function givenColumns(one: OutputColumns, given: readonly Given[]): readonly NamedOrigin[] | null {
  if (one.kind === 'computed') return [{ name: one.name, origin: null }];
  if (one.kind === 'reference') return [{ name: one.name, origin: referred(one.parts, given) }];
  const { relation, without } = one;
  const isAll = relation === '';
  const meant = isAll ? given : given.filter(({ source }) => source.name === relation);
  if (meant.length === 0) return null;
  const found: NamedOrigin[] = [];
  for (const { source, columns } of meant) {
    if (columns === null) return null;
    for (const { name, origin } of columns) {
      if (without.includes(name) || (isAll && source.merged.includes(name))) continue;
      found.push({ name, origin: isAll && isMadeOfTwo(name, given) ? null : origin });
    }
  }
  return found;
}

/** The column that a name means; null for what is in a struct, or is no column. */
function referred(parts: readonly string[], given: readonly Given[]): RelationColumn | null {
  const [name = '', relation] = parts.toReversed();
  const has = (column: string | undefined) => (one: Given) => one.columns?.some((its) => its.name === column) === true;
  if (relation === undefined && isMadeOfTwo(name, given)) return null;
  // A column with dots behind it is a struct.
  if (parts.length > 2 && given.some(has(parts[0]))) return null;
  const meant =
    relation === undefined ? given.filter(has(name)) : given.filter(({ source }) => source.name === relation);
  const [first, second] = meant;
  if (relation !== undefined && second !== undefined) return null;
  return first?.columns?.find((its) => its.name === name)?.origin ?? null;
}

/** Whether a column of USING is the one or the other side's. */
const isMadeOfTwo = (name: string, given: readonly Given[]): boolean =>
  given.some(({ source }) => source.keepsRows && source.merged.includes(name));

function renamed(
  { of, renamed: names }: OutputSource,
  known: readonly (readonly NamedOrigin[] | null)[],
  tables: readonly (BoundTable | BoundView)[],
): readonly NamedOrigin[] | null {
  if (of === null) return null;
  const columns = 'query' in of ? known[of.query] : tableColumns(tables[of.table]);
  if (columns == null || names.length === 0) return columns ?? null;
  return columns.map(({ name, origin }, i) => ({ name: names[i] ?? name, origin }));
}

function tableColumns(table: BoundTable | BoundView | undefined): readonly NamedOrigin[] | null {
  switch (table?.kind) {
    case undefined:
      return null;
    case 'view':
      return table.columns?.map((name, i) => numbered(name, table.oid, i)) ?? null;
    case 'iceberg':
      return scanColumns(table);
    case 'policed':
      return scanColumns(table.table);
    case 'staged':
      return table.table.columns.map(computed);
    case 'rows':
      return table.rows.columns.map(computed);
    default:
      return unreachable(table);
  }
}

/** A column that an earlier schema of the table has may have another place by now, or be gone. */
function scanColumns({ oid, metadata, schemaId, columns, addresses }: BoundScan): readonly NamedOrigin[] {
  const own = columns.slice(0, columns.length - addresses.length);
  const now = currentSchema(metadata);
  if (now.schemaId === schemaId) return own.map(({ name }, i) => numbered(name, oid, i));
  const places = new Map(now.fields.map(({ id }, i) => [id, i]));
  return own.map(({ name, fieldId }) => numbered(name, oid, places.get(fieldId) ?? null));
}

const computed = ({ name }: { readonly name: string }): NamedOrigin => ({ name: foldIdentifier(name), origin: null });

/** Postgres counts columns from 1. */
const numbered = (name: string, oid: number, place: number | null): NamedOrigin => ({
  name: foldIdentifier(name),
  origin: oid === 0 || place === null ? null : { oid, column: place + 1 },
});
