import { randomUUID } from 'node:crypto';
import { systemClock } from '#shared/clock.ts';
import type { Config } from '#shared/config/config-schema.ts';
import { SkeinError } from '#shared/error.ts';
import { LruManifestCache } from '#shared/iceberg/manifest-cache.ts';
import type { Logger } from '#shared/log/logger.ts';
import { openMembership } from '#shared/membership/open-membership.ts';
import { localFileIo } from '#shared/storage/local-file-io.ts';
import { singleGroupAdmission } from './admission/admission.ts';
import { startHttp } from './api/http/http-server.ts';
import { tableApi } from './api/http/table-api.ts';
import { authenticator, catalogKeys } from './auth/authenticate.ts';
import { EpochWatch } from './auth/epoch-watch.ts';
import { catalogClient, type CatalogClient } from './catalog-client/catalog-client.ts';
import { startFront } from './start-front.ts';
import { DUCKDB_VERSION } from './cluster/duckdb-version.ts';
import { WorkerPool } from './cluster/worker-pool.ts';
import { failOrphans, migrateHistory, nextEpoch, openHistoryDatabase } from './history/history-database.ts';
import { HistoryWriter } from './history/history-writer.ts';
import { storeRows } from './history/store-rows.ts';
import { queryMetrics, type QueryMetrics } from './query/query-metrics.ts';
import { QueryRegistry } from './query/query-registry.ts';
import { statementRunner, type RunnerServices } from './query/run-statement.ts';
import { NameFinder } from './session/current-names.ts';
import { SessionStore } from './session/session-store.ts';

export type RunningCoordinator = { readonly queryUrl: string; close(): Promise<void> };

/** Everything that is built first; closed in the reverse order. */
type Parts = {
  readonly config: Config;
  readonly log: Logger;
  readonly stack: AsyncDisposableStack;
};

/** Builds a coordinator and starts it. @throws START_FAILED, PORT_IN_USE, INVALID_CONFIGURATION. */
export async function startCoordinator(config: Config, log: Logger): Promise<RunningCoordinator> {
  if (config['cluster.secret'] === '') throw new SkeinError('INVALID_CONFIGURATION', 'cluster.secret is not set');
  await using stack = new AsyncDisposableStack();
  const parts: Parts = { config, log, stack };
  const front = startFront(config, log);
  stack.defer(() => front.planner.close());
  const { epoch, history } = await startHistory(parts);
  const catalog = stack.adopt(openCatalog(config), (client) => client.close());
  const epochs = stack.adopt(new EpochWatch(catalog, log), (watch) => watch.close());
  const pool = await startPool(parts, epoch);
  const sessions = startSessions(config, catalog);
  const admission = singleGroupAdmission({
    runningMax: config['coordinator.queries_running_max'],
    queuedMax: config['coordinator.queries_queued_max'],
  });
  const manifestCache = new LruManifestCache(Math.floor(config['coordinator.metadata_cache_bytes'] / 2));
  const registry = new QueryRegistry();
  const metrics = queryMetrics({
    running: () => admission.running,
    queued: () => admission.queued,
    workersLive: () => pool.liveCount(),
    workersKnown: () => pool.states().length,
    sessions: () => sessions.store.size,
    historyWaiting: () => history.waiting,
    metadataCacheBytes: () => catalog.cacheBytes + manifestCache.bytes,
  });
  const services: RunnerServices = {
    config,
    clock: systemClock,
    log,
    epoch,
    registry,
    admission,
    sessions,
    front,
    scheduler: {
      pool,
      secret: config['cluster.secret'],
      epoch,
      clock: systemClock,
      spillLimitBytes: config['worker.spill_limit'],
      taskBytesMax: config['worker.task_bytes_max'],
      onRetry: metrics.taskRetried,
    },
    io: localFileIo,
    manifestCache,
    record: (row) => history.record(row),
    metrics,
  };
  const notReady = (): string | undefined => {
    if (!epochs.isFresh()) return 'the catalog does not answer';
    return pool.liveCount() > 0 ? undefined : 'no worker is available';
  };
  const http = await startApi(parts, services, { epochs, metrics, notReady });
  // Before the server closes, so that its requests end with a reason.
  stack.defer(() => registry.cancelAll(new SkeinError('QUERY_CANCELLED', 'the coordinator is shutting down')));
  const running = stack.move();
  log.info({ url: http.url, epoch }, 'coordinator is up');
  return { queryUrl: http.url, close: () => running.disposeAsync() };
}

/** Our schema in Postgres, this start's epoch, and the end of what an earlier coordinator left behind. */
async function startHistory({ config, log, stack }: Parts): Promise<{ epoch: number; history: HistoryWriter }> {
  const options = { url: config['database.url'], poolMax: config['database.pool_max'], log };
  const db = stack.adopt(openHistoryDatabase(options), (open) => open.destroy());
  await migrateHistory(db);
  const epoch = await nextEpoch(db);
  const orphans = await failOrphans(db, epoch);
  if (orphans > 0) log.warn({ orphans }, 'statements of an earlier coordinator are marked as failed');
  const bufferMax = config['coordinator.history_buffer_max'];
  const writer = new HistoryWriter({ store: storeRows(db), bufferMax, log });
  return { epoch, history: stack.adopt(writer, (open) => open.close()) };
}

const openCatalog = (config: Config): CatalogClient =>
  catalogClient({
    address: config['catalog.internal_url'],
    secret: config['cluster.secret'],
    cacheBytes: Math.floor(config['coordinator.metadata_cache_bytes'] / 2),
  });

async function startPool({ config, log, stack }: Parts, epoch: number): Promise<WorkerPool> {
  const membership = stack.adopt(await openMembership(config, log), (open) => open.close());
  const pool = new WorkerPool(membership, {
    secret: config['cluster.secret'],
    coordinatorId: randomUUID(),
    epoch,
    heartbeatIntervalMs: config['cluster.heartbeat_interval'],
    heartbeatTimeoutMs: config['cluster.heartbeat_timeout'],
    duckdbVersion: DUCKDB_VERSION,
    clock: systemClock,
    log,
  });
  return stack.adopt(pool, (open) => open.close());
}

function startSessions(config: Config, catalog: CatalogClient): RunnerServices['sessions'] {
  const store = new SessionStore({
    idleMs: config['coordinator.session_idle'],
    sessionsMax: config['coordinator.sessions_max'],
    clock: systemClock,
  });
  const names = new NameFinder({
    catalog,
    defaultCatalog: config['bootstrap.catalog'],
    defaultSchema: config['bootstrap.namespace'],
    clock: systemClock,
  });
  return { store, names, catalog, config };
}

type ApiParts = {
  readonly epochs: EpochWatch;
  readonly metrics: QueryMetrics;
  readonly notReady: () => string | undefined;
};

async function startApi(
  { config, log, stack }: Parts,
  services: RunnerServices,
  api: ApiParts,
): Promise<{ url: string }> {
  const { store, names, catalog } = services.sessions;
  const http = await startHttp({
    host: config.host,
    port: config['coordinator.http_port'],
    bodyBytesMax: config['coordinator.body_bytes_max'],
    holdbackBytes: config['coordinator.result_holdback'],
    resultBytesMax: config['coordinator.result_bytes_max'],
    timeoutMsMax: config['coordinator.query_timeout_max'],
    authenticate: authenticator({
      keys: catalogKeys(config['catalog.url']),
      epochOf: (principal) => api.epochs.current(principal),
      nowMs: () => systemClock.nowMs(),
    }),
    queries: statementRunner(services),
    tables: tableApi({
      catalog,
      currentCatalog: async ({ claims }, key) => (await names.current(claims.tenant, store.get(key))).catalog,
    }),
    metrics: api.metrics,
    notReady: api.notReady,
    log,
  });
  return stack.adopt(http, (server) => server.close());
}
