import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import type { MadeType } from '#shared/made-type.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import { hiddenColumn } from './hidden-columns.ts';
import { madeColumn, type MadeColumn } from './made-columns.ts';
import type { TableRows } from './table-rows.ts';

/** The views of INFORMATION_SCHEMA (service specification) with their columns, in order. */
const SCHEMA_VIEWS = {
  tables: {
    table_catalog: 'VARCHAR',
    table_schema: 'VARCHAR',
    table_name: 'VARCHAR',
    table_type: 'VARCHAR',
    table_owner: 'VARCHAR',
    row_count: 'BIGINT',
    bytes: 'BIGINT',
    created: 'VARCHAR',
    comment: 'VARCHAR',
    rls_enabled: 'BOOLEAN',
  },
  columns: {
    table_catalog: 'VARCHAR',
    table_schema: 'VARCHAR',
    table_name: 'VARCHAR',
    column_name: 'VARCHAR',
    ordinal_position: 'BIGINT',
    data_type: 'VARCHAR',
    is_nullable: 'VARCHAR',
    column_default: 'VARCHAR',
    numeric_precision: 'BIGINT',
    numeric_scale: 'BIGINT',
    comment: 'VARCHAR',
    is_primary_key: 'BOOLEAN',
  },
  schemata: {
    catalog_name: 'VARCHAR',
    schema_name: 'VARCHAR',
    schema_owner: 'VARCHAR',
    default_character_set_name: 'VARCHAR',
  },
  views: {
    table_catalog: 'VARCHAR',
    table_schema: 'VARCHAR',
    table_name: 'VARCHAR',
    view_definition: 'VARCHAR',
    is_updatable: 'VARCHAR',
  },
  policy_references: {
    policy_db: 'VARCHAR',
    policy_schema: 'VARCHAR',
    policy_name: 'VARCHAR',
    policy_kind: 'VARCHAR',
    ref_database_name: 'VARCHAR',
    ref_schema_name: 'VARCHAR',
    ref_entity_name: 'VARCHAR',
    ref_entity_domain: 'VARCHAR',
    ref_column_name: 'VARCHAR',
    ref_arg_column_names: 'VARCHAR',
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, MadeType>>>>;

export type SchemaViewName = keyof typeof SCHEMA_VIEWS;

/** The columns of a view that say which catalog, schema and relation a row is of, in this order. */
export const PLACE_COLUMNS: Readonly<Record<SchemaViewName, readonly string[]>> = {
  tables: ['table_catalog', 'table_schema', 'table_name'],
  columns: ['table_catalog', 'table_schema', 'table_name'],
  views: ['table_catalog', 'table_schema', 'table_name'],
  schemata: ['catalog_name', 'schema_name'],
  policy_references: ['ref_database_name', 'ref_schema_name', 'ref_entity_name'],
};

const INFORMATION_SCHEMA = 'information_schema';

export const isInformationSchema = (name: string): boolean => foldIdentifier(name) === INFORMATION_SCHEMA;

/** The view of a name, whatever its case; undefined when there is none. */
export function schemaViewOf(name: string): SchemaViewName | undefined {
  const folded = foldIdentifier(name);
  return Object.hasOwn(SCHEMA_VIEWS, folded) ? (folded as SchemaViewName) : undefined;
}

/** A view by its name of two or three parts; `catalog` null = the name has none. */
export type NamedView = { readonly view: SchemaViewName; readonly catalog: string | null };

/** The view that a name of two or three parts means; undefined when it means none. */
export function namedView(parts: readonly string[]): NamedView | undefined {
  const [table = '', schema = '', catalog = null] = parts.toReversed();
  const view = isInformationSchema(schema) ? schemaViewOf(table) : undefined;
  return view === undefined ? undefined : { view, catalog };
}

/** The names and types of a view's columns. */
export const viewColumns = (view: SchemaViewName): readonly (readonly [string, MadeType])[] =>
  Object.entries(SCHEMA_VIEWS[view]);

/** A constant of a query's text, and its place there; null = it has none. */
export type WantedConstant = { readonly text: string; readonly location: number | null };

/** For a column of a view, by its name: lists of constants, of each of which its value must be one. */
export type WantedConstants = Readonly<Record<string, readonly (readonly WantedConstant[])[]>>;

/** Values that a query wants of columns of a view, by their names: rows with others do not count. The query still has the filter. */
export type ViewFilters = Readonly<Record<string, readonly string[]>>;

/** The values that are in all lists of a column. */
export const viewFilters = (wanted: WantedConstants): ViewFilters =>
  Object.fromEntries(
    Object.entries(wanted).map(([name, lists]) => {
      const sets = lists.map((list) => new Set(list.map(({ text }) => text)));
      const [first = new Set<string>(), ...others] = sets;
      return [name, [...first].filter((text) => others.every((set) => set.has(text)))];
    }),
  );

export type SchemaViewRequest = {
  readonly view: SchemaViewName;
  /** The name of the view, for messages. */
  readonly title: string;
  /** The catalog that the query names; null = it names none. */
  readonly catalog: string | null;
  readonly filters: ViewFilters;
  /** Folded names; only columns of these names are made. Null = all. */
  readonly named: ReadonlySet<string> | null;
  /** Hidden columns that the query names. */
  readonly hidden: readonly string[];
  readonly signal: AbortSignal;
};

/** Gives the rows of the views of INFORMATION_SCHEMA. */
export interface SchemaViews {
  /** The client speaks the protocol of Postgres: it may read what only its INFORMATION_SCHEMA has. */
  readonly hasPostgresViews: boolean;
  /** @throws CATALOG_NOT_FOUND, CATALOG_UNAVAILABLE, STATEMENT_TOO_COMPLEX when they take too much memory */
  schemaView(request: SchemaViewRequest): Promise<TableRows>;
}

/** Columns of a view, with those hidden ones that a query names. */
export type ViewColumns = { readonly view: SchemaViewName; readonly hidden: readonly string[] };

const columnsOf = ({ view, hidden }: ViewColumns): readonly (readonly [string, MadeType])[] => [
  ...viewColumns(view),
  ...hidden.flatMap((name): readonly (readonly [string, MadeType])[] => {
    const type = hiddenColumn(view, name);
    return type === undefined ? [] : [[name, type]];
  }),
];

/** The columns of a view whose values are made. Of rows that nobody looks into one column is, so that they are counted. */
export function madeColumns(of: ViewColumns, named: SchemaViewRequest['named']): readonly MadeColumn[] {
  const columns = columnsOf(of).map(([name, type]) => madeColumn(name, type));
  const made = columns.filter(({ name }) => named === null || named.has(name));
  return made.length === 0 ? columns.slice(-1) : made;
}

/** The SELECT list that gives all columns of a view, NULL for those that are not made. */
export const wholeSelect = (of: ViewColumns, made: readonly MadeColumn[]): string =>
  columnsOf(of)
    .map(([name, type]) => {
      const isMade = made.some((column) => column.name === name);
      return isMade ? quoteIdentifier(name) : `CAST(NULL AS ${type}) AS ${quoteIdentifier(name)}`;
    })
    .join(', ');
