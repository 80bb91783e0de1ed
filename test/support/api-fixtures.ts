import type { Caller } from '#coordinator/auth/authenticate.ts';
import type { HistoryEntry } from '#coordinator/history/history-request.ts';
import { isOpen, type HistoryRow, type Recorded } from '#coordinator/history/history-record.ts';
import type { ClusterView } from '#coordinator/observe/cluster-view.ts';
import { EventHub } from '#coordinator/observe/event-hub.ts';
import type { LiveQuery } from '#coordinator/operation/live-query.ts';
import { QueryRegistry, type LiveStatement } from '#coordinator/query/query-registry.ts';
import { GroupTree } from '#coordinator/workload/group-tree.ts';
import { DEFAULT_WORKLOAD } from '#coordinator/workload/workload.ts';
import type { Kill } from '#coordinator/quarantine/quarantine.ts';
import type { BrowseApi } from '#coordinator/api/browse/browse-routes.ts';
import { Objects } from '#coordinator/api/browse/objects.ts';
import type { CatalogClient } from '#coordinator/catalog-client/catalog-client.ts';
import { systemClock } from '#shared/clock.ts';
import { principalId, queryId, tenantId } from '#shared/id.ts';

/** Things that the query HTTP API shows, for tests of its routes. */

export const liveQuery = (principal: LiveQuery['principal'], priority: number): LiveQuery => ({
  queryId: queryId('00000000-0000-0000-0000-000000000001'),
  tenant: tenantId('t'),
  principal,
  username: 'u',
  sql: 'SELECT 1',
  queryType: 'select',
  source: null,
  resourceGroup: '/root',
  priority,
  classification: null,
  waiting: null,
  state: 'running',
  queuedAtMs: 0,
  startedAtMs: 1,
  elapsedMs: 2.5,
  rowsProduced: 3,
  progress: { tasks: 5, tasksDone: 2, tasksRunning: 1, bytesScanned: 7, coreMs: 0, retries: 0, workers: ['worker-1'] },
});
/** A statement that is refused because it cost a worker its process. */
export const KILL: Kill = {
  id: '00000000-0000-0000-0000-000000000009',
  tenant: tenantId('t'),
  principal: principalId('p'),
  username: 'u',
  fingerprint: '00ff',
  sql: 'SELECT 1',
  reason: 'it did not stop',
  killedAtMs: 0,
  untilMs: 3_600_000,
};
/** Two catalogs, and nothing in them. */
export const BROWSE: BrowseApi = {
  objects: new Objects({
    findCatalogs: () => Promise.resolve(['lake', 'other']),
    listCatalog: () => Promise.resolve({ blocks: [], schemas: [] }),
  } as unknown as CatalogClient),
  currentNames: () => Promise.resolve({ catalog: 'lake', schema: ['default'] }),
};
export const T0 = '1970-01-01T00:00:00.000Z';
export const historyEntry: HistoryEntry = {
  queryId: '00000000-0000-0000-0000-000000000001',
  status: 'completed',
  sql: 'SELECT 1',
  userId: 'p',
  tenantId: 't',
  queryType: 'select',
  resourceGroup: '/root',
  priority: 3,
  queuedAt: T0,
  startedAt: T0,
  endedAt: T0,
  durationMs: 1,
  rowsProduced: 1,
  bytesScanned: 0,
  fragments: 1,
  errorMessage: null,
  cuConsumed: 0.5,
};

const RELEASE = { skein: '0.1.0', duckdb: '1.5.5' };
const MEMORY = { reservations: { interactive: 1, medium: 2, batch: 4 }, interactiveShare: 0.25 };

const admission = { describe: () => new GroupTree(DEFAULT_WORKLOAD, MEMORY).describe(), rules: [] };

/** A cluster of one worker that has answered and one that has not, and of one group. */
export const view: ClusterView = {
  workloadProblem: () => 'workload.yaml is gone',
  workersApart: () => ['one - other'],
  series: () => [
    {
      atMs: 1_000,
      running: 1,
      queued: 2,
      classes: {
        interactive: { running: 1, queued: 0 },
        medium: { running: 0, queued: 0 },
        batch: { running: 0, queued: 2 },
      },
      slots: 2,
      tasks: 1,
      memoryLimitBytes: 1_000,
      memoryGrantedBytes: 100,
      spoolBytes: 10,
    },
  ],
  groups: () => admission.describe(),
  feedbackQueue: () => ({
    running: 1,
    slots: 2,
    queries: 1,
    tasks: [1, 0, 0, 0, 2],
    scheduledMs: [10.4, 0, 0, 0, 1_000],
  }),
  cluster: () => ({
    coordinator: { id: '00000000-0000-0000-0000-00000000000c', release: RELEASE, epoch: 3, activeSinceMs: 0 },
    running: 1,
    queued: 2,
    workers: [
      {
        name: 'worker-1',
        state: 'live',
        sinceMs: 0,
        release: RELEASE,
        slots: 2,
        threads: 1,
        runningTasks: 1,
        memoryLimitBytes: 1_000,
        memoryGrantedBytes: 100,
        spoolBytes: 10,
      },
      {
        name: null,
        state: 'connecting',
        sinceMs: 0,
        release: null,
        slots: null,
        threads: 0,
        runningTasks: null,
        memoryLimitBytes: null,
        memoryGrantedBytes: null,
        spoolBytes: null,
      },
    ],
  }),
};

/** Events of that cluster, in which no statement runs. */
export const eventHub = (epoch = 3): EventHub =>
  new EventHub({ epoch, view, admission, registry: new QueryRegistry(), clock: systemClock });

/** The record of a statement. */
export const historyRow = (changes: Partial<HistoryRow> = {}): HistoryRow => ({
  record_id: '00000000-0000-0000-0000-0000000000f1',
  query_id: '00000000-0000-0000-0000-000000000001',
  status: 'queued',
  sql: 'SELECT 1',
  user_id: 'p',
  username: 'u',
  tenant_id: 't',
  query_type: 'select',
  source: null,
  resource_group: '/root',
  priority: 2,
  queued_at: new Date(0),
  started_at: null,
  ended_at: null,
  duration_ms: null,
  rows_produced: 0,
  bytes_scanned: 0,
  fragments: 0,
  error_code: null,
  error_message: null,
  cu_consumed: 0,
  epoch: 3,
  ...changes,
});

/** A statement with this record and profile. */
export const recordedOf = (row: HistoryRow, profile: string | null = null): Recorded & Pick<LiveStatement, 'key'> => ({
  key: { tenant: tenantId(row.tenant_id), principal: principalId(row.user_id), queryId: queryId(row.query_id) },
  recordId: row.record_id,
  isOpen: isOpen(row.status),
  queryType: row.query_type,
  row: () => row,
  profileLater: () => (profile === null ? null : () => profile),
});

/** A caller of a tenant; `decisions` are what it may do. */
export const callerOf = (tenant: string, sub = 'p', decisions: Caller['decisions'] = new Map()): Caller => ({
  claims: {
    iss: '',
    aud: '',
    sub: principalId(sub),
    tenant: tenantId(tenant),
    jti: 'j',
    preferred_username: sub,
    roles: [],
    scope: '',
    sess_epoch: 0,
    auth_method: 'operator',
    iat: 0,
    exp: 0,
  },
  decisions,
});
