import { systemClock } from '#shared/clock.ts';
import type { ByteBudget } from '#shared/byte-budget.ts';
import type { Config } from '#shared/config/config-schema.ts';
import type { ChannelSecurity } from '#shared/grpc/channel-security.ts';
import type { TableReader } from '#shared/iceberg/table-reader.ts';
import type { QueryId } from '#shared/id.ts';
import type { Logger } from '#shared/log/logger.ts';
import { openMembership } from '#shared/membership/open-membership.ts';
import { DUCKDB_RELEASE, SKEIN_RELEASE } from '#shared/release.ts';
import type { Kysely } from 'kysely';
import { singleGroupAdmission, type Admission } from './admission/admission.ts';
import type { ClientTexts } from './client-texts.ts';
import type { HungRun } from './cluster/worker-ending.ts';
import { WorkerPool } from './cluster/worker-pool.ts';
import { failOrphans, nextEpoch, type HistoryDatabase } from './history/history-database.ts';
import { HistoryWriter } from './history/history-writer.ts';
import { storeRows } from './history/store-rows.ts';
import type { QueryMetrics } from './query/query-metrics.ts';
import { Quarantine } from './quarantine/quarantine.ts';
import { RecentRuns } from './quarantine/recent-runs.ts';
import { storeKills } from './quarantine/store-kills.ts';
import { QueryRegistry } from './query/query-registry.ts';
import type { QueryService } from './query/query-service.ts';
import { statementRunner } from './query/run-statement.ts';
import type { Front } from './query/runner-services.ts';
import { endUnknown } from './scheduler/end-unknown.ts';
import type { SessionServices } from './session/session-services.ts';

/** The parts of a coordinator that outlive its terms as leader. */
export type TermParts = {
  readonly config: Config;
  readonly log: Logger;
  readonly security: ChannelSecurity;
  readonly coordinatorId: string;
  readonly database: Kysely<HistoryDatabase>;
  readonly front: Front;
  readonly texts: ClientTexts;
  readonly sessions: SessionServices;
  readonly tables: TableReader;
  /** Memory for the lists of files of all queries. */
  readonly fileLists: ByteBudget;
  readonly metrics: QueryMetrics;
};

/** A coordinator while it is the active one: everything that belongs to its epoch. */
export type Term = AsyncDisposable & {
  readonly epoch: number;
  readonly queries: QueryService;
  readonly registry: QueryRegistry;
  readonly pool: WorkerPool;
  readonly admission: Admission;
  readonly history: HistoryWriter;
};

/** Begins a term: a new epoch, the end of what earlier ones left behind, and links to the workers. */
export async function startTerm(parts: TermParts): Promise<Term> {
  const { config, log, security, front, texts, sessions, tables, fileLists, metrics, database } = parts;
  await using stack = new AsyncDisposableStack();
  const epoch = await nextEpoch(database);
  const orphans = await failOrphans(database, epoch);
  if (orphans > 0) log.warn({ orphans }, 'statements of an earlier coordinator are marked as failed');
  const bufferMax = config['coordinator.history_buffer_max'];
  const writer = new HistoryWriter({ store: storeRows(database), bufferMax, log });
  const history = stack.adopt(writer, (open) => open.close());
  const running = new Set<QueryId>();
  const runs = new RecentRuns();
  const quarantine = new Quarantine({
    store: storeKills(database),
    clock: systemClock,
    log,
    ttlMs: config['coordinator.quarantine_ttl'],
    killsMax: config['coordinator.kills_max'],
    windowMs: config['coordinator.kills_window'],
  });
  await quarantine.open();
  const onHung = ({ queryId, quantumMs }: HungRun): void => {
    const shape = runs.find(queryId);
    if (shape === undefined) log.warn({ queryId }, 'a worker ended itself because of a run that nobody knows here');
    else quarantine.add(shape, `one step of a query took ${quantumMs} ms and did not stop when it had to`);
  };
  const pool = await startPool(parts, { epoch, running, onHung, stack });
  const admission = singleGroupAdmission({
    runningMax: config['coordinator.queries_running_max'],
    queuedMax: config['coordinator.queries_queued_max'],
  });
  const registry = new QueryRegistry();
  const queries = statementRunner({
    config,
    clock: systemClock,
    log,
    epoch,
    registry,
    admission,
    sessions,
    front,
    texts,
    scheduler: {
      pool,
      keyring: security.keyring,
      epoch,
      spillLimitBytes: config['worker.spill_limit'],
      taskBytesMax: config['worker.task_bytes_max'],
      workerWaitMs: config['coordinator.worker_wait'],
      onRetry: metrics.taskRetried,
      running,
    },
    tables,
    fileLists,
    quarantine,
    runs,
    record: (row) => history.record(row),
    metrics,
  });
  const kept = stack.move();
  return { epoch, queries, registry, pool, admission, history, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

type PoolParts = {
  readonly epoch: number;
  readonly running: ReadonlySet<QueryId>;
  readonly onHung: (hung: HungRun) => void;
  readonly stack: AsyncDisposableStack;
};

async function startPool(
  { config, log, coordinatorId, security }: TermParts,
  { epoch, running, onHung, stack }: PoolParts,
): Promise<WorkerPool> {
  const membership = stack.adopt(await openMembership(config, log), (open) => open.close());
  const pool = new WorkerPool(membership, {
    security,
    coordinatorId,
    epoch,
    heartbeatIntervalMs: config['cluster.heartbeat_interval'],
    heartbeatTimeoutMs: config['cluster.heartbeat_timeout'],
    release: { skein: SKEIN_RELEASE, duckdb: DUCKDB_RELEASE },
    log,
    onHung,
    onBeat: endUnknown({ running, epoch, keyring: security.keyring }),
  });
  return stack.adopt(pool, (open) => open.close());
}
