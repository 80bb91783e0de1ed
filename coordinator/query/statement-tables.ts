import { must } from '#shared/must.ts';
import type { LoadedTable, TableName, TableSource } from '../resolver/table-source.ts';
import { Recall } from './recall.ts';

export interface StatementTables extends TableSource {
  /** Has every table loaded again, because a snapshot has expired, or as it is now, because it is not as it was recalled. */
  forget(): void;
  /** From now on, until `forget`, tables are given as they were last seen, if they likely are still so (`TableLoader.recallTables`). */
  recall(): Recall;
}

/**
 * The tables of one statement: each is loaded and authorised once, so that all queries of the statement read the same snapshot of it,
 * whatever is committed between them.
 */
export function statementTables(source: TableSource): StatementTables {
  const asked = new Map<string, LoadedTable>();
  /** Tables by stored name: names that differ in case may mean the same table. */
  const found = new Map<string, LoadedTable>();
  let recall: Recall | null = null;
  const load = (
    names: readonly TableName[],
    signal: AbortSignal,
  ): Promise<readonly LoadedTable[]> | readonly LoadedTable[] =>
    recall?.give(source.recallTables?.(names, signal) ?? null) ?? source.loadTables(names, signal);
  return {
    loadTables: async (names, signal) => {
      const unknown = names.filter((name) => !asked.has(keyOf(name)));
      const loaded = unknown.length === 0 ? [] : await load(unknown, signal);
      unknown.forEach((name, i) => {
        const table = must(loaded[i], 'one answer for each name');
        const stored = table.kind === 'missing' ? null : keyOf(table.name);
        const known = stored === null ? undefined : found.get(stored);
        if (stored !== null && known === undefined) found.set(stored, table);
        asked.set(keyOf(name), known ?? table);
      });
      return names.map((name) => must(asked.get(keyOf(name)), 'it was loaded'));
    },
    nearest: (name, missing) => source.nearest(name, missing),
    forget: () => {
      asked.clear();
      found.clear();
      recall = null;
    },
    recall: () => (recall = new Recall()),
  };
}

const keyOf = ({ catalog, namespace, table }: TableName): string => JSON.stringify([catalog, namespace, table]);
