import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import type { PendingTravel, TimeTravel } from '../binding/query-references.ts';

/** A table of FROM, before all other sources of its name are known. */
export type OpenTable = {
  readonly location: number;
  readonly parts: readonly string[];
  readonly at: TimeTravel | PendingTravel | null;
  /** Null when the query gives the table an alias. */
  readonly source: Source | null;
  /** The name that the query gives it; '' when it gives none. */
  readonly givenAlias: string;
  /** Columns that the query names and `*` does not mean: addresses, and hidden columns of views of INFORMATION_SCHEMA. */
  readonly addresses: Set<string>;
};

/** All sources of one FROM that have the same name. */
export type Source = {
  count: number;
  /** The number of tables among them that have no alias, and their whole names, folded. */
  tableCount: number;
  readonly tables: Set<string>;
};

/** A table that columns may name by its schema; `isAlone` unless one of another catalog has the same schema and name. */
export type NamedTable = { readonly table: OpenTable; readonly whole: string; isAlone: boolean };

/** The names of one query; `parent` has those of the enclosing query. */
export type Scope = {
  readonly ctes: Set<string>;
  /** Sources by their folded name, which may qualify columns. */
  readonly sources: Map<string, Source>;
  /** Tables without an alias by `qualifiedName`, with their catalogs and without. */
  readonly tables: Map<string, NamedTable>;
  /** All tables of FROM. */
  readonly bases: OpenTable[];
  readonly parent: Scope | null;
};

export const newScope = (parent: Scope | null): Scope => ({
  ctes: new Set(),
  sources: new Map(),
  tables: new Map(),
  bases: [],
  parent,
});

export function addSource({ sources }: Scope, name: string): Source {
  const key = foldIdentifier(name);
  const source = sources.get(key) ?? { count: 0, tables: new Set(), tableCount: 0 };
  source.count += 1;
  sources.set(key, source);
  return source;
}

/** @param whole the table's catalog, schema and name, folded */
export function addTable({ tables }: Scope, table: OpenTable, whole: readonly string[]): void {
  const key = qualifiedName(whole);
  for (const name of [key, qualifiedName(whole.slice(1))]) {
    const known = tables.get(name);
    if (known === undefined) tables.set(name, { table, whole: key, isAlone: true });
    else if (known.whole !== key) known.isAlone = false;
  }
  if (table.source === null) return;
  table.source.tables.add(key);
  table.source.tableCount += 1;
}

/** Whether something other than a table without an alias has the name. */
export const hasOthers = (source: Source | null): boolean => source !== null && source.count > source.tableCount;
/** Whether several tables without an alias, and nothing else, have the name. */
export const isShared = (source: Source): boolean => !hasOthers(source) && source.tables.size > 1;

/**
 * Whether a reference begins with a name that several tables share. These tables get their whole names as aliases, so the reference could
 * then mean a source of an enclosing query. A reference without a dot may be a column, so it is ambiguous only when there is such a source.
 */
export function isAmbiguous(parts: readonly string[], scope: Scope): boolean {
  const name = foldIdentifier(parts[0] ?? '');
  let nearest: Source | undefined;
  for (let at: Scope | null = scope; at !== null; at = at.parent) {
    const source = at.sources.get(name);
    if (source === undefined) continue;
    if (nearest !== undefined) return true;
    if (!isShared(source)) return false;
    if (parts.length > 1) return true;
    nearest = source;
  }
  return false;
}

export const qualifiedName = (parts: readonly string[]): string => JSON.stringify(parts);

export function isCommonTable(name: string, scope: Scope): boolean {
  const key = foldIdentifier(name);
  for (let at: Scope | null = scope; at !== null; at = at.parent) if (at.ctes.has(key)) return true;
  return false;
}
