import { join } from 'node:path';
import { systemClock } from '#shared/clock.ts';
import type { ByteBudget } from '#shared/byte-budget.ts';
import { type Config } from '#shared/config/config-schema.ts';
import { parseBytes } from '#shared/config/parse-setting.ts';
import type { ChannelSecurity } from '#shared/grpc/channel-security.ts';
import type { TableReader } from '#shared/iceberg/table-reader.ts';
import type { QueryId } from '#shared/id.ts';
import type { Logger } from '#shared/log/logger.ts';
import { openMembership } from '#shared/membership/open-membership.ts';
import { DUCKDB_RELEASE, SKEIN_RELEASE } from '#shared/release.ts';
import type { Kysely } from 'kysely';
import type { ClientTexts } from './client-texts.ts';
import type { HungRun } from './cluster/worker-ending.ts';
import { WorkerPool } from './cluster/worker-pool.ts';
import { EarlierTerms } from './history/ending-terms.ts';
import { failOrphans, type HistoryDatabase } from './history/history-database.ts';
import { HistoryPartitions } from './history/history-partitions.ts';
import { ProfileSegments } from './history/profile-segments.ts';
import type { HistoryReader } from './history/read-history.ts';
import type { History } from './history/open-history.ts';
import type { QueryMetrics } from './query/query-metrics.ts';
import { ClusterSeries } from './observe/cluster-series.ts';
import { clusterView, type ClusterView } from './observe/cluster-view.ts';
import { EventHub } from './observe/event-hub.ts';
import type { Traces } from './query/traces.ts';
import { Cursors } from './cursor/cursors.ts';
import { Quarantine } from './quarantine/quarantine.ts';
import { RecentRuns } from './quarantine/recent-runs.ts';
import { storeKills } from './quarantine/store-kills.ts';
import { QueryRegistry } from './query/query-registry.ts';
import type { QueryService } from './query/query-service.ts';
import { statementRunner } from './query/run-statement.ts';
import type { QueryCompiler } from './prepare/query-compiler.ts';
import { queryTimes } from './scheduler/query-times.ts';
import { carrierGate, type Scheduler, type TimedRun } from './scheduler/scheduler.ts';
import { UnloadIntents } from './unload/unload-intents.ts';
import { UnloadJournal } from './unload/unload-journal.ts';
import { WriteIntents } from './write/write-intents.ts';
import { TransactionStore } from './transaction/transaction-store.ts';
import { Transactions } from './transaction/transactions.ts';
import { CommitQueue } from './write/commit-queue.ts';
import { WriteJournal } from './write/write-journal.ts';
import { GroupAdmission } from './workload/admission.ts';
import { NO_WORKLOAD } from './workload/workload.ts';
import type { WorkloadFile } from './workload/workload-file.ts';
import { EMPTY_SESSION } from './session/session.ts';
import type { SessionServices } from './session/session-services.ts';

/** The parts of a coordinator that outlive its terms as leader. */
export type TermParts = {
  readonly config: Config;
  readonly log: Logger;
  readonly security: ChannelSecurity;
  readonly coordinatorId: string;
  /** Greater than those of all terms before. */
  readonly epoch: number;
  /** Aborted when the lead is lost. */
  readonly lost: AbortSignal;
  readonly database: Kysely<HistoryDatabase>;
  readonly history: History;
  readonly records: HistoryReader;
  readonly compiler: QueryCompiler;
  readonly texts: ClientTexts;
  readonly sessions: SessionServices;
  readonly tables: TableReader;
  /** Memory for the lists of files of all queries. */
  readonly fileLists: ByteBudget;
  readonly metrics: QueryMetrics;
  readonly workload: WorkloadFile;
  readonly traces: Traces | null;
};

/** A coordinator while it is the active one: everything that belongs to its epoch. */
export type Term = AsyncDisposable & {
  readonly epoch: number;
  readonly queries: QueryService;
  readonly registry: QueryRegistry;
  readonly pool: WorkerPool;
  readonly admission: GroupAdmission;
  readonly view: ClusterView;
  readonly events: EventHub;
};

const schedulerOf = (
  { config, epoch, security, metrics, sessions }: TermParts,
  { pool, running }: Pick<Scheduler, 'pool' | 'running'>,
): Scheduler => ({
  pool,
  keyring: security.keyring,
  epoch,
  spillLimitBytes: config['worker.spill_limit'],
  taskBytesMax: config['worker.task_bytes_max'],
  workerWaitMs: config['coordinator.worker_wait'],
  carriers: carrierGate(),
  onRetry: metrics.taskRetried,
  renewKey: (tenant, key) => sessions.catalog.renewKey(tenant, key),
  running,
});

/** Begins a term: the end of what earlier ones left behind, and links to the workers. */
export async function startTerm(parts: TermParts): Promise<Term> {
  const { config, log, epoch, compiler, texts, tables, fileLists, metrics, database, history } = parts;
  const sessions = { ...parts.sessions, catalog: parts.sessions.catalog.inTerm(epoch) };
  await using stack = new AsyncDisposableStack();
  const retentionMs = config['coordinator.history_retention'];
  const kept = { db: database, retentionMs, nowMs: () => systemClock.nowMs(), log };
  await stack.use(new HistoryPartitions(kept)).start();
  await stack.use(new ProfileSegments({ ...kept, bytesMax: config['coordinator.profiles_bytes_max'] })).start();
  const journal = new WriteJournal({ intents: new WriteIntents(database, epoch), catalog: sessions.catalog, log });
  const writes = stack.adopt(journal, (open) => open.close());
  const begun = { intents: new UnloadIntents(database, epoch), catalog: sessions.catalog.stages };
  const unloads = stack.adopt(new UnloadJournal({ ...begun, keys: sessions.catalog, log }), (open) => open.close());
  const cursors = stack.use(openCursors(parts));
  const transactions = stack.use(openTransactions({ ...parts, sessions }, { journal, epoch, cursors }));
  const takeOver = async (ending: readonly number[]): Promise<void> => {
    const orphans = await failOrphans(database, epoch, ending);
    if (orphans > 0) log.warn({ orphans }, 'statements of an earlier coordinator are marked as failed');
    for (const journal of [writes, unloads, transactions]) await journal.resume(ending);
  };
  const earlier = stack.use(new EarlierTerms({ db: database, epoch, takeOver, log }));
  await earlier.start();
  const running = new Map<QueryId, TimedRun>();
  const runs = new RecentRuns();
  const quarantine = openQuarantine(parts);
  await quarantine.open();
  const onHung = ({ queryId, quantumMs }: HungRun): void => {
    const shape = runs.find(queryId);
    if (shape === undefined) log.warn({ queryId }, 'a worker ended itself because of a run that nobody knows here');
    else quarantine.add(shape, `one step of a query took ${quantumMs} ms and did not stop when it had to`);
  };
  const pool = await startPool(parts, { ending: () => earlier.ending, running, onHung, stack });
  const admission = stack.use(openAdmission(parts, pool));
  if (config['coordinator.workload'] === 'on') {
    stack.defer(parts.workload.onChange((workload) => admission.reconfigure(workload)));
  }
  const registry = new QueryRegistry();
  const present = clusterView({ ...parts, activeSinceMs: systemClock.nowMs(), admission, pool });
  const series = stack.use(new ClusterSeries({ view: present, admission, clock: systemClock }));
  const view = { ...present, series: () => series.points };
  const events = stack.use(new EventHub({ epoch, view, admission, registry, clock: systemClock }));
  const engine = { registry, admission, sessions, compiler, texts, tables, fileLists, quarantine, runs };
  const queries = statementRunner({
    config,
    clock: systemClock,
    log,
    epoch,
    lost: parts.lost,
    ...engine,
    scheduler: schedulerOf(parts, { pool, running }),
    writes,
    unloads,
    commits: new CommitQueue(),
    transactions,
    cursors,
    record: (statement, workClass) => {
      history.record(statement);
      events.record(statement, workClass);
    },
    onChanged: (statement) => events.changed(statement),
    history: parts.records,
    metrics,
    traces: parts.traces,
  });
  const moved = stack.move();
  return { epoch, queries, registry, pool, admission, view, events, [Symbol.asyncDispose]: () => moved.disposeAsync() };
}

function openTransactions(
  { config, log, sessions, database }: TermParts,
  { journal, epoch, cursors }: { readonly journal: WriteJournal; readonly epoch: number; readonly cursors: Cursors },
): Transactions {
  return new Transactions({
    catalog: sessions.catalog,
    journal,
    store: new TransactionStore(database, epoch),
    log,
    timeoutMs: config['coordinator.transaction_timeout'],
    bytesMax: config['coordinator.transaction_bytes_max'],
    memoryBytes: config['coordinator.transaction_memory'],
    perPrincipalMax: config['coordinator.transactions_per_principal_max'],
    idleMs: config['coordinator.session_idle'],
    onEnd: (session, transaction, isCommitted) => {
      cursors.transactionEnded(transaction, isCommitted);
      const { state } = transaction.begun;
      if (state === null) return;
      try {
        sessions.store.update(session, (now) =>
          isCommitted ? { ...now, local: EMPTY_SESSION.local } : { ...state, prepared: now.prepared },
        );
      } catch (error) {
        // The session had been given up meanwhile, and its user has as many as he may.
        log.debug({ err: error }, 'the settings of a session were not brought back');
      }
    },
  });
}

const openCursors = ({ config, sessions }: TermParts): Cursors =>
  new Cursors({
    perSessionMax: config['coordinator.cursors_max'],
    perPrincipalMax: config['coordinator.cursors_per_principal_max'],
    bytesMax: config['coordinator.cursor_bytes_max'],
    bytesInAllMax: config['coordinator.cursors_bytes'],
    memoryBytesMax: config['coordinator.cursors_memory'],
    folder: join(config.data_dir, 'spool'),
    idleMs: config['coordinator.session_idle'],
    isHeldSession: (session) => sessions.store.isKept(session),
  });

const openQuarantine = ({ config, log, database }: TermParts): Quarantine =>
  new Quarantine({
    store: storeKills(database),
    clock: systemClock,
    log,
    ttlMs: config['coordinator.quarantine_ttl'],
    killsMax: config['coordinator.kills_max'],
    windowMs: config['coordinator.kills_window'],
  });

/** Opens the resource groups of a term; with `coordinator.workload: off` none of them limits anything. */
function openAdmission({ config, workload }: TermParts, pool: WorkerPool): GroupAdmission {
  const isOn = config['coordinator.workload'] === 'on';
  const [interactive = 0, medium = 0, batch = 0] = config['coordinator.memory_reservation'].map(parseBytes);
  return new GroupAdmission({
    workload: isOn ? workload.current : NO_WORKLOAD,
    memory: {
      reservations: { interactive, medium, batch },
      interactiveShare: config['coordinator.memory_interactive_share'] / 100,
    },
    memoryBytes: () => (isOn ? pool.open().reduce((sum, { info }) => sum + info.memoryLimitBytes, 0) : 0),
    clock: systemClock,
  });
}

type PoolParts = {
  /** Epochs of earlier terms that go on. */
  readonly ending: () => readonly number[];
  readonly running: ReadonlyMap<QueryId, TimedRun>;
  readonly onHung: (hung: HungRun) => void;
  readonly stack: AsyncDisposableStack;
};

async function startPool(
  { config, log, coordinatorId, epoch, security, workload }: TermParts,
  { ending, running, onHung, stack }: PoolParts,
): Promise<WorkerPool> {
  const membership = stack.adopt(await openMembership(config, log), (open) => open.close());
  const pool = new WorkerPool(membership, {
    security,
    coordinatorId,
    epoch,
    heartbeatIntervalMs: config['cluster.heartbeat_interval'],
    heartbeatTimeoutMs: config['cluster.heartbeat_timeout'],
    mlfq: () => (config['coordinator.workload'] === 'on' ? workload.current : NO_WORKLOAD).mlfq,
    release: { skein: SKEIN_RELEASE, duckdb: DUCKDB_RELEASE },
    log,
    onHung,
    ...queryTimes({ running, epoch, ending }),
  });
  return stack.adopt(pool, (open) => open.close());
}
