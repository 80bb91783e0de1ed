import type { PrepareQuery, PrepareRequest } from '../planner/prepare-query.ts';
import type { PreparedQuery } from '../planner/prepared-query.ts';
import type { LoadedTable, TableName, TableSource } from '../resolver/table-source.ts';

/** A question to the catalog and what it answered. */
type Asked = { readonly names: readonly TableName[]; readonly answers: readonly LoadedTable[] };
type Entry = { readonly query: PreparedQuery; readonly asked: readonly Asked[] };

/** As `PrepareQuery`; `owner` is who asks, as one text. */
export type CachedPrepare = (request: PrepareRequest, owner: string) => Promise<PreparedQuery>;

/** Longer statements are not kept: they seldom come twice, and the cache is bounded by entries. */
const SQL_LENGTH_MAX = 16_384;

/**
 * What the optimiser may fold to another constant the next time: everything that has to do with "now", found generously in the bare text.
 * User, catalog, schema and time zone are part of the key.
 */
const TIME_DEPENDENT = /now|today|current|local|timestamp|\bage\b|getvariable/i;

/**
 * Plans of statements that come again. An entry is used only after the catalog has been asked the same questions and gave the same
 * answers, so what a table is, and who may see it, is never remembered. Statements without tables cost no call.
 */
export function cachedPrepare(prepare: PrepareQuery, entriesMax: number): CachedPrepare {
  const entries = new Map<string, Entry>();
  return async (request, owner) => {
    if (entriesMax === 0 || request.sql.length > SQL_LENGTH_MAX || TIME_DEPENDENT.test(request.sql)) {
      return prepare(request);
    }
    const key = keyOf(request, owner);
    const found = entries.get(key);
    if (found !== undefined && (await isCurrent(found, request))) {
      entries.delete(key);
      entries.set(key, found);
      return found.query;
    }
    const asked: Asked[] = [];
    const query = await prepare({ ...request, tables: recording(request.tables, asked) });
    entries.set(key, { query, asked });
    for (const oldest of entries.keys()) {
      if (entries.size <= entriesMax) break;
      entries.delete(oldest);
    }
    return query;
  };
}

function keyOf({ sql, context }: PrepareRequest, owner: string): string {
  const { timeZone, currentUser, currentCatalog, currentSchema } = context;
  return JSON.stringify([owner, timeZone, currentUser, currentCatalog, currentSchema, sql]);
}

const recording = (tables: TableSource, asked: Asked[]): TableSource => ({
  loadTables: async (names, signal) => {
    const answers = await tables.loadTables(names, signal);
    asked.push({ names, answers });
    return answers;
  },
});

async function isCurrent({ asked }: Entry, { tables, signal }: PrepareRequest): Promise<boolean> {
  for (const { names, answers } of asked) {
    const now = await tables.loadTables(names, signal);
    if (!now.every((table, index) => isSame(table, answers[index]))) return false;
  }
  return true;
}

function isSame(now: LoadedTable, before: LoadedTable | undefined): boolean {
  if (before === undefined || now.kind !== before.kind) return false;
  if (now.kind === 'missing' || before.kind === 'missing') {
    return now.kind === 'missing' && before.kind === 'missing' && now.code === before.code;
  }
  return (
    now.metadataLocation === before.metadataLocation &&
    JSON.stringify([now.name, now.allowedRoots]) === JSON.stringify([before.name, before.allowedRoots])
  );
}
