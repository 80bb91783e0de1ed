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

/** The column of a name of one or two parts; undefined where it is not known. */
export function columnNamed(parts: readonly string[], scope: WriterScope): ColumnIn | undefined {
  const [name = '', table] = parts.toReversed();
  for (let at: WriterScope | null = scope; at !== null; at = at.parent) {
    for (const source of at.sources) {
      if (table !== undefined && source.alias !== table) continue;
      const column = source.columns?.find((one) => one.name === name);
      if (column !== undefined) return { source, type: column.type };
      if (table !== undefined || source.columns === null) return { source, type: null };
    }
  }
  return undefined;
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
  /** The number of a relation of Postgres' own. */
  readonly numberOf: (relation: string) => number | undefined;
  /** A range of the text that is the value of a parameter and begins here. */
  readonly valueAt: (place: number) => { readonly from: number; readonly to: number } | undefined;
  /** A name that nothing else has. */
  readonly fresh: () => string;
};
