import type { Sql } from './parts.ts';

/** An expression, and its type in Postgres; null = that which DuckDB finds. */
export type Typed = { readonly sql: Sql; readonly type: string | null };

export type Column = { readonly name: string; readonly type: string | null };

/** Something in FROM. Columns null = they are not known here. */
export type FromItem = {
  readonly alias: string;
  readonly columns: readonly Column[] | null;
  /** The relation of Postgres' catalog that it is. */
  readonly relation: string | null;
  /** The schema by which columns may name it, '' for that of the session; null = it has an alias, or is no relation. */
  readonly schema: string | null;
};

export type WriterScope = {
  readonly sources: FromItem[];
  /** USING or NATURAL makes one column of two. */
  isMerged: boolean;
  readonly parent: WriterScope | null;
  readonly common: Map<string, readonly Column[] | null>;
};

export const openScope = (parent: WriterScope | null): WriterScope => ({
  sources: [],
  isMerged: false,
  parent,
  common: new Map(),
});

/** The columns of a query that WITH defines; undefined = none has the name. */
export function commonTable(name: string, scope: WriterScope | null): readonly Column[] | null | undefined {
  for (let at = scope; at !== null; at = at.parent) if (at.common.has(name)) return at.common.get(name);
  return undefined;
}

type ColumnIn = { readonly source: FromItem; readonly type: string | null };

/** The column of a name of one to four parts, `catalog.schema.relation.column`; undefined where it is not known. */
export function columnNamed(parts: readonly string[], scope: WriterScope): ColumnIn | undefined {
  const [name = ''] = parts.slice(-1);
  const qualifier = parts.slice(0, -1);
  for (let at: WriterScope | null = scope; at !== null; at = at.parent) {
    for (const source of at.sources) {
      if (!isNamedBy(source, qualifier)) continue;
      const column = source.columns?.find((one) => one.name === name);
      if (column !== undefined) return { source, type: column.type };
      if (qualifier.length > 0 || source.columns === null) return { source, type: null };
    }
  }
  return undefined;
}

/** Whether the parts before a column, or before a star, mean a source: its alias, or a relation without one by its schema. */
export function isNamedBy({ alias, schema }: FromItem, qualifier: readonly string[]): boolean {
  const [table, inSchema] = qualifier.toReversed();
  if (table !== undefined && alias !== table) return false;
  return inSchema === undefined || schema === inSchema || schema === '';
}

/** Relations of Postgres' catalog with their columns, by schema and name. */
type Relations = (schema: string, name: string) => readonly Column[] | undefined;

export type Written = { readonly sql: Sql; readonly columns: readonly Column[] | null };

/** Where an expression stands. */
export type WritePlace = {
  readonly scope: WriterScope;
  /** Writes a query within it. */
  readonly query: (node: unknown, scope: WriterScope) => Written;
  readonly relations: Relations;
  /** The session's catalog, whose relations they are. */
  readonly catalog: string;
  /** The number of a relation of Postgres' own. */
  readonly numberOf: (relation: string) => number | undefined;
  /** A range of the text that is the value of a parameter and begins here. */
  readonly valueAt: (place: number) => { readonly from: number; readonly to: number } | undefined;
  /** A name that nothing else has. */
  readonly fresh: () => string;
};
