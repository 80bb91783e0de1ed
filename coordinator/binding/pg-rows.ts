import type { MadeType, MadeValue } from '#shared/made-type.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import { madeColumn, type MadeColumn } from './made-columns.ts';
import { pgRelation, type PgRelation } from './pg-relations.ts';
import { duckDbType, isNumbered } from './pg-types.ts';
import type { ViewFilters } from './schema-views.ts';
import type { TableRows } from './table-rows.ts';

/** A relation of Postgres' catalog by its schema and its name, both folded, as `pgRelation` knows it. */
export type NamedPgRelation = { readonly pg: string; readonly schema: string };

export type PgRowsRequest = NamedPgRelation & {
  /** The name of the relation, for messages. */
  readonly title: string;
  readonly filters: ViewFilters;
  /** Folded names; only columns of these names are made. Null = all. */
  readonly named: ReadonlySet<string> | null;
  readonly signal: AbortSignal;
};

/** Gives the rows of the relations of Postgres' catalog. */
export interface PgRelations {
  /** @throws CATALOG_UNAVAILABLE, STATEMENT_TOO_COMPLEX when they take too much memory */
  pgRows(request: PgRowsRequest): Promise<TableRows>;
}

/** Names of filters by the table or view that a row is of, by its number or one that belongs to it, and by its schema; no column is called so. */
export const OF_RELATION = '@relation';
export const OF_NUMBER = '@number';
export const OF_SCHEMA = '@schema';

/** Columns that have the number of a table or view, or of what belongs to it: rows that such columns make equal are of the same one. */
const NUMBER_COLUMNS: Readonly<Record<string, readonly string[]>> = {
  pg_class: ['oid'],
  pg_attribute: ['attrelid'],
  pg_attrdef: ['adrelid'],
  pg_index: ['indrelid', 'indexrelid'],
  // Its own number is no number of those eight for NOT NULL, and is compared with no constant here.
  pg_constraint: ['conrelid', 'conindid', 'oid'],
  pg_description: ['objoid'],
  pg_type: ['typrelid'],
  // A table needs a schema, whose number is none of those eight: none is compared with a constant here.
  pg_depend: ['objid', 'refobjid'],
  pg_rewrite: ['oid', 'ev_class'],
  pg_stat_all_tables: ['relid'],
  pg_stat_user_tables: ['relid'],
  pg_statio_all_tables: ['relid'],
  pg_statio_user_tables: ['relid'],
  skein_keys: ['conoid', 'indexrelid'],
  skein_views: ['oid'],
  skein_sizes: ['oid'],
};

/** Numbers of a table and of what belongs to it are eight from one on that eight divides (`045-object-numbers.ts`). */
export const numberOfRelation = (number: number): number => number - (number % 8);

/** Columns that have the number of the schema of a table or view. */
const SCHEMA_COLUMNS: Readonly<Record<string, string>> = {
  pg_class: 'relnamespace',
  pg_constraint: 'connamespace',
  pg_type: 'typnamespace',
};

/** Whether a column of a relation says which table or view a row is of. */
export const isNumberColumn = (relation: string, column: string): boolean =>
  Object.hasOwn(NUMBER_COLUMNS, relation) && NUMBER_COLUMNS[relation]?.includes(column) === true;

/** Whether it says of which schema. */
export const isSchemaColumn = (relation: string, column: string): boolean =>
  Object.hasOwn(SCHEMA_COLUMNS, relation) && SCHEMA_COLUMNS[relation] === column;

/** Columns by whose constants rows are picked. */
const PICKED: Readonly<Record<string, readonly string[]>> = {
  pg_class: ['oid', 'relname', 'relkind'],
  pg_attribute: ['attrelid'],
  pg_attrdef: ['adrelid'],
  pg_index: ['indrelid'],
  pg_constraint: ['conrelid', 'contype'],
  pg_description: ['objoid', 'classoid'],
  pg_namespace: ['nspname'],
  pg_type: [],
  skein_views: ['oid'],
};

/** As `PLACE_COLUMNS` of the views of INFORMATION_SCHEMA: none of them is a catalog. */
export const pgPlaces = (name: string): readonly string[] => ['', ...(PICKED[name] ?? [])];

/** The columns of a relation whose values are made. */
export function pgMadeColumns(relation: PgRelation, named: ReadonlySet<string> | null): readonly PgColumn[] {
  const columns = relation.columns.map(([name, type], index) => {
    return { ...madeColumn(name, madeTypeOf(type)), pg: type, index };
  });
  const made = columns.filter(({ name }) => named === null || named.has(name));
  return made.length === 0 ? columns.slice(0, 1) : made;
}

export type PgColumn = MadeColumn & { readonly pg: string; readonly index: number };

/** The SELECT list that gives all columns of a relation their types, NULL for those that are not made. */
export const pgSelect = (relation: PgRelation, made: readonly PgColumn[]): string =>
  relation.columns
    .map(([name, type]) => {
      const quoted = quoteIdentifier(name);
      const isMade = made.some((column) => column.name === name);
      const whole = duckDbType(type) ?? 'VARCHAR';
      const isPlain = isMade && whole === madeTypeOf(type);
      return isPlain ? quoted : `CAST(${isMade ? quoted : 'NULL'} AS ${whole}) AS ${quoted}`;
    })
    .join(', ');

const MADE: Readonly<Record<string, MadeType>> = {
  bool: 'BOOLEAN',
  int2: 'INTEGER',
  int4: 'INTEGER',
  int8: 'BIGINT',
  oid: 'BIGINT',
  xid: 'BIGINT',
  cid: 'BIGINT',
  cardinal_number: 'INTEGER',
  float4: 'DOUBLE',
  float8: 'DOUBLE',
  timestamptz: 'TIMESTAMP WITH TIME ZONE',
  time_stamp: 'TIMESTAMP WITH TIME ZONE',
};

function madeTypeOf(type: string): MadeType {
  if (isNumbered(type)) return 'BIGINT';
  return Object.hasOwn(MADE, type) ? (MADE[type] ?? 'VARCHAR') : 'VARCHAR';
}

/** The value of a text of Postgres. */
export function pgValue(type: string, text: string | null): MadeValue {
  if (text === null) return null;
  const made = madeTypeOf(type);
  if (made === 'BOOLEAN') return text === 'true' || text === 't';
  if (made === 'INTEGER' || made === 'BIGINT' || made === 'DOUBLE') return Number(text);
  if (type === 'int2vector' || type === 'oidvector') return `[${text.split(' ').filter(Boolean).join(', ')}]`;
  return type.startsWith('_') ? listText(text) : text;
}

/** A list as DuckDB reads it from a text. */
function listText(text: string): string {
  const items = [...text.replace(/^\{|\}$/g, '').matchAll(/"((?:[^"\\]|\\.)*)"|([^,]+)/g)];
  return pgList(
    items.map(([, quoted, plain = '']) =>
      quoted === undefined ? (plain === 'NULL' ? null : plain) : unescaped(quoted),
    ),
  );
}

const unescaped = (quoted: string): string => quoted.replaceAll(/\\(.)/g, '$1');

export const pgList = (items: readonly (string | number | null)[]): string =>
  `[${items.map((item) => (typeof item === 'string' ? `"${item.replaceAll(/(["\\])/g, '\\$1')}"` : String(item ?? 'NULL'))).join(', ')}]`;

/** The value of a column that says nothing of an object. */
export function pgDefault(type: string): MadeValue {
  const made = madeTypeOf(type);
  if (made === 'BOOLEAN') return false;
  if (made === 'INTEGER' || made === 'BIGINT' || made === 'DOUBLE') return 0;
  return type === 'char' || type === 'name' ? '' : null;
}

/**
 * The relation that a name of two or three parts means, one of INFORMATION_SCHEMA only for clients of Postgres' protocol; undefined when it means
 * none. The relations tell of one catalog, so a third part is that one. @param catalog null = any may be named
 */
export function namedPgRelation(
  parts: readonly string[],
  { hasPostgresViews, catalog }: { readonly hasPostgresViews: boolean; readonly catalog: string | null },
): NamedPgRelation | undefined {
  const [pg = '', schema = '', within] = parts.toReversed().map(foldIdentifier);
  if (parts.length < 2 || (within !== undefined && catalog !== null && within !== foldIdentifier(catalog)))
    return undefined;
  if (schema !== 'pg_catalog' && !(hasPostgresViews && schema === 'information_schema')) return undefined;
  return pgRelation(schema, pg) === undefined ? undefined : { pg, schema };
}
