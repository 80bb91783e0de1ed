import { randomUUID } from 'node:crypto';
import type { SqlText, StatementContext, TaskReport } from '#proto/task.ts';
import { SkeinError } from '#shared/error.ts';
import { taskId, type PrincipalId, type QueryId, type TenantId } from '#shared/id.ts';
import type { Keyring } from '#shared/keyring.ts';
import { queryKilled, WorkerEnding } from '../cluster/worker-ending.ts';
import type { WorkerLease, WorkerPool } from '../cluster/worker-pool.ts';
import type { FlightData } from '#shared/flight/flight-data.ts';
import type { PlannedScan } from './plan-scans.ts';
import { runTask } from './run-task.ts';
import { taskSpec, taskTicket, type TaskOwner } from './task-spec.ts';
import { CONNECTIONS_LOST_MAX } from './task-state.ts';

/** The services and limits that all queries of a coordinator share. */
export type Scheduler = {
  readonly pool: WorkerPool;
  readonly keyring: Keyring;
  readonly epoch: number;
  readonly spillLimitBytes: number;
  /** `worker.task_bytes_max` */
  readonly taskBytesMax: number;
  readonly onRetry: () => void;
  /** Ids of the current runs. A worker that holds tasks or output of any other run is told to end it. */
  readonly running: Set<QueryId>;
};

/** One fragment on one worker. */
export type QueryRun = {
  /** Id of this run, not the client's query id: two clients may choose the same one. */
  readonly queryId: QueryId;
  readonly tenant: TenantId;
  readonly principal: PrincipalId;
  readonly sql: SqlText;
  readonly scans: readonly PlannedScan[];
  readonly context: StatementContext;
  readonly memoryLimitBytes: number;
  readonly wide: boolean;
  /** See `TaskSpec.collected`. */
  readonly collected: boolean;
  readonly profile: boolean;
  readonly bounds: TaskOwner['bounds'];
  /** Time, in ms since 1970, by which the run has ended in any case. */
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
  /** Called when a new attempt begins: the output of earlier attempts is void. */
  readonly onStart: () => void;
  readonly onMessage: (message: FlightData<Buffer>) => Promise<void> | void;
  /** Whether the task may still run again: nothing of its result has left. */
  readonly mayRetry: () => boolean;
};

/** A query that was running on this many workers when they were lost is suspected of killing them, and fails. */
const WORKERS_LOST_MAX = 2;

/**
 * Runs a query whole on one worker. If that worker is lost before the client received a byte, the query runs once more on another; if it
 * drains,
 * on the next. If only the connection broke, it runs again on the same worker. A query error is never a reason to try
 * another worker. A worker that ended itself because of another query does not count; if it did so because of this query, the query fails.
 */
export async function runQuery(scheduler: Scheduler, run: QueryRun): Promise<TaskReport> {
  scheduler.running.add(run.queryId);
  try {
    return await attempts(scheduler, run);
  } finally {
    scheduler.running.delete(run.queryId);
  }
}

async function attempts(scheduler: Scheduler, run: QueryRun): Promise<TaskReport> {
  const avoid: string[] = [];
  let workersLost = 0;
  for (;;) {
    await scheduler.pool.available(run.signal);
    const lease = scheduler.pool.lease({ wide: run.wide, affinity: affinity(run.scans), avoid });
    try {
      return await onWorker(scheduler, run, lease);
    } catch (error) {
      if (error instanceof WorkerEnding && error.hung.queryId === run.queryId) throw queryKilled(error.hung);
      const { code } = SkeinError.of(error);
      const wasRefused = code === 'WORKER_DRAINING';
      if ((code !== 'WORKER_LOST' && !wasRefused) || run.signal.aborted || !run.mayRetry()) throw error;
      if (error instanceof WorkerEnding) continue;
      avoid.push(lease.link.address);
      workersLost += wasRefused ? 0 : 1;
      const isLast = scheduler.pool.open().every(({ link }) => avoid.includes(link.address));
      if (workersLost >= WORKERS_LOST_MAX || isLast) throw wasRefused ? scheduler.pool.noWorkers() : error;
      if (!wasRefused) scheduler.onRetry();
    } finally {
      lease.release();
    }
  }
}

/** Runs the query on one leased worker, again after a broken connection as long as the worker lives. */
async function onWorker(scheduler: Scheduler, run: QueryRun, lease: WorkerLease): Promise<TaskReport> {
  for (let connections = 1; ; connections += 1) {
    try {
      run.onStart();
      return await attempt(scheduler, run, lease);
    } catch (error) {
      if (SkeinError.of(error).code !== 'CONNECTION_LOST') throw error;
      run.signal.throwIfAborted();
      const lives = await lease.link.outlives([run.signal, lease.lost]);
      run.signal.throwIfAborted();
      if (!lives) throw SkeinError.of(lease.lost.reason);
      if (connections >= CONNECTIONS_LOST_MAX || !run.mayRetry()) throw error;
      scheduler.onRetry();
    }
  }
}

/** Returns the table that decides the worker: the biggest one, because its files cost most to fetch again. */
function affinity(scans: readonly PlannedScan[]): string | undefined {
  return scans.toSorted((a, b) => b.report.bytes - a.report.bytes)[0]?.spec.tableUuid;
}

async function attempt(scheduler: Scheduler, run: QueryRun, lease: WorkerLease): Promise<TaskReport> {
  const { keyring, epoch, spillLimitBytes, taskBytesMax } = scheduler;
  const owner: TaskOwner = { ...run, epoch, spillLimitBytes };
  const spec = taskSpec(
    owner,
    {
      taskId: taskId(randomUUID()),
      sql: run.sql,
      scans: run.scans.map((scan) => scan.spec),
      inputs: [],
      keepJoinOrder: false,
      collected: run.collected,
      output: { kind: 'stream' },
      threads: lease.threads,
      scheduledMs: 0,
    },
    lease.info,
  );
  const ticket = taskTicket(owner, spec, keyring);
  // Not AbortSignal.any: the worker's signal lives for days, and would keep a trace of every task.
  const stop = new AbortController();
  const onAbort = (): void => stop.abort(run.signal.reason);
  const onLost = (): void => stop.abort(lease.lost.reason);
  if (run.signal.aborted) onAbort();
  if (lease.lost.aborted) onLost();
  run.signal.addEventListener('abort', onAbort);
  lease.lost.addEventListener('abort', onLost);
  try {
    const { signal } = stop;
    return await runTask({
      client: lease.link.client,
      keyring,
      spec,
      ticket,
      taskBytesMax,
      signal,
      onMessage: run.onMessage,
    });
  } finally {
    run.signal.removeEventListener('abort', onAbort);
    lease.lost.removeEventListener('abort', onLost);
  }
}
