import type { JsonObject } from '#shared/json.ts';
import type { BoundedFamily } from '#shared/sql/bounded-functions.ts';
import type { WantedConstants } from './schema-views.ts';

/** The names in a policy's body. */
export type BodyNames = {
  readonly columns: readonly { readonly location: number; readonly parts: readonly string[] }[];
  /** Folded names that it gives to tables, columns and queries within it, and those of its tables. */
  readonly given: readonly string[];
};

/** The external references of a parsed query. Locations are byte offsets in its text. */
export type QueryReferences = {
  /** In the order of the text. */
  readonly tables: readonly TableReference[];
  readonly columns: readonly QualifiedColumn[];
  /** Stars over tables with address columns, which `*` does not mean. */
  readonly stars: readonly StarReference[];
  /** Folded names among which are those of all columns that are read; null = any column may be. */
  readonly named: readonly string[] | null;
  /** Whether the result depends on the user or the time (`now()`, `current_user`). */
  readonly contextual: boolean;
  /** Whether no more of the context matters than the time zone and the current catalog and schema (`current_schema`). */
  readonly placeAlone: boolean;
  /** For `ParseRequest.isBody`. */
  readonly body?: BodyNames;
  /** Families of the costly functions that it calls; workers limit their work. */
  readonly bounds: readonly BoundedFamily[];
  /** The names of columns without an alias whose texts are not what DuckDB gets; a location is the end of the column's expression. */
  readonly names: readonly GivenName[];
  /** The query as the last, behind those in it that its columns come from; none = it is too long, or of a kind whose columns are not told. */
  readonly outputs: readonly OutputQuery[];
};

/** The columns of a query, as far as they may be columns of its tables as they are. Names are folded. */
export type OutputQuery = {
  readonly columns: readonly OutputColumns[];
  readonly from: readonly OutputSource[];
  /** The columns have names of those below, but other values: a set operation. */
  readonly isComputed: boolean;
};

/** One column of a query, which is a reference or computed; or the columns of a star. */
export type OutputColumns =
  | { readonly kind: 'reference'; readonly name: string; readonly parts: readonly string[] }
  | { readonly kind: 'computed'; readonly name: string }
  /** `relation` = '' for those of all sources. */
  | { readonly kind: 'star'; readonly relation: string; readonly without: readonly string[] };

/** A source in FROM. */
export type OutputSource = {
  readonly name: string;
  /** New names of its first columns. */
  readonly renamed: readonly string[];
  /** A table of `QueryReferences.tables`, or a query of `outputs`; null = its columns are not known. */
  readonly of: { readonly table: number } | { readonly query: number } | null;
  /** The columns of USING, which the source before it has, too. */
  readonly merged: readonly string[];
  /** Those among them are computed: the join keeps rows of this source that no other one matches. */
  readonly keepsRows: boolean;
};

/** The name that DuckDB gives a column for the text of its expression. */
export type GivenName = { readonly location: number; readonly name: string };

export type TableReference = {
  readonly location: number;
  /** The name as written: table, schema and table, or catalog, schema and table. */
  readonly parts: readonly string[];
  /** The alias to add; null when the query gives one. */
  readonly alias: string | null;
  readonly at: TimeTravel | null;
  /** The name by which columns refer to the table. */
  readonly qualifier: string;
  /** Address columns that the query names, and hidden ones (`hidden-columns.ts`); a table's own column of the same name comes first. */
  readonly addresses: readonly string[];
  /** For a view of INFORMATION_SCHEMA: the constants that the query wants of its columns. */
  readonly wanted?: WantedConstants | undefined;
  /** The table before it in whose place it stands in a repeated subquery (`repeated-subqueries.ts`): both are one scan. */
  readonly sameAs?: number | undefined;
  /** The SELECT list that gives its rows their types, when the table is bound to rows that need one. */
  readonly select?: string | undefined;
};

/** `*` or `t.*`, or the FROM of a query without SELECT; `tables` are those of its query, as indexes into `QueryReferences.tables`. */
export type StarReference = { readonly location: number; readonly tables: readonly number[] };

/**
 * The state of a table that `AT (...)` asks for: the snapshot of an id (a decimal int64), that of a branch or tag (a text of digits may also
 * be an id), or that of an instant in microseconds since 1970. `current` stands for a parameter that has no value yet.
 */
export type TimeTravel = (
  | { readonly kind: 'snapshot'; readonly snapshotId: string }
  | { readonly kind: 'ref'; readonly ref: string }
  | { readonly kind: 'timestamp'; readonly micros: string }
  | { readonly kind: 'current' }
) & {
  /** Place of the value. */
  readonly location: number;
  /** False for a value that was computed, and may depend on the statement's context. */
  readonly isLiteral: boolean;
};

/** A column reference that begins with a table's name, `parts` as written; `alias` stands for that table. */
export type QualifiedColumn = {
  readonly location: number;
  readonly parts: readonly string[];
  readonly alias: string;
};

/** The syntax tree of a constant expression that is a version or an instant. */
export type PendingTravel = {
  readonly kind: 'expression';
  readonly unit: 'version' | 'timestamp';
  readonly expression: JsonObject;
  readonly location: number;
};

/** The catalog and schema of unqualified names. */
export type NameDefaults = { readonly catalog: string; readonly schema: string };

/** A query's references before the values of `AT (...)` are computed. */
export type FoundReferences = Omit<QueryReferences, 'tables' | 'names'> & {
  readonly tables: readonly (Omit<TableReference, 'at'> & { readonly at: TimeTravel | PendingTravel | null })[];
};
