import { must } from '#shared/must.ts';
import { tableKey, type LoadedTable, type TableLoader, type TableSource } from '../binding/table-source.ts';

export interface StatementTables extends TableSource {
  /** Has every table loaded again, because a snapshot has expired. */
  forget(): void;
}

/**
 * The tables of one statement: each is loaded and authorised once, so that all queries of the statement read the same snapshot of it,
 * whatever is committed between them.
 */
export function statementTables(source: TableSource): StatementTables {
  const asked = new Map<string, LoadedTable>();
  /** Tables by stored name: names that differ in case may mean the same table. */
  const found = new Map<string, LoadedTable>();
  return {
    loadTables: async (names, signal) => {
      const unknown = names.filter((name) => !asked.has(tableKey(name)));
      const loaded = unknown.length === 0 ? [] : await source.loadTables(unknown, signal);
      unknown.forEach((name, i) => {
        const table = must(loaded[i], 'one answer for each name');
        const stored = table.kind === 'missing' ? null : tableKey(table.name);
        const known = stored === null ? undefined : found.get(stored);
        if (stored !== null && known === undefined) found.set(stored, table);
        asked.set(tableKey(name), known ?? table);
      });
      return names.map((name) => must(asked.get(tableKey(name)), 'it was loaded'));
    },
    nearest: (name, missing) => source.nearest(name, missing),
    forget: () => {
      asked.clear();
      found.clear();
    },
  };
}

/**
 * The tables of the query that is the whole statement. While a lease says that the catalog would answer as it did last, that answer is
 * used; all others are the statement's. Once the tables are forgotten, the catalog is asked.
 */
export function leasedTables<Tables extends StatementTables>(tables: Tables, source: TableLoader): Tables {
  let isForgotten = false;
  const leased = statementTables({
    loadTables: (names, signal) => {
      const known = isForgotten ? null : (source.leasedTables?.(names) ?? null);
      return known === null ? tables.loadTables(names, signal) : Promise.resolve(known);
    },
    nearest: (name, missing) => tables.nearest(name, missing),
  });
  return {
    ...tables,
    ...leased,
    forget: () => {
      isForgotten = true;
      leased.forget();
      tables.forget();
    },
  };
}
