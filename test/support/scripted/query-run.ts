import { principalId, queryId, tenantId } from '#shared/id.ts';
import type { QueryRun } from '#coordinator/scheduler/one-run.ts';
import { TextColumnReader } from '#coordinator/sink/text-column.ts';

/** A query that runs on scripted workers, and whose rows nobody takes. */
export const queryRun = (): QueryRun => ({
  queryId: queryId('q'),
  tenant: tenantId('t'),
  principal: principalId('p'),
  context: { nowMicros: '0', timeZone: 'UTC', currentUser: 'u', currentCatalog: 'c', currentSchema: 's' },
  memoryLimitBytes: 5_000_000_000,
  growMemory: (bytes) => bytes,
  onWork: () => undefined,
  isPinned: () => false,
  killRank: () => null,
  profile: 'none',
  bounds: [],
  deadlineMs: Date.now() + 60_000,
  signal: new AbortController().signal,
  encoding: { sql: (sql) => sql, newReader: () => new TextColumnReader() },
  sink: null,
  onRun: () => undefined,
  onStart: () => undefined,
  onBatch: () => undefined,
  mayStartOver: () => true,
});
