import { DUCKDB_RELEASE, SKEIN_RELEASE, type Release } from '#shared/release.ts';
import type { Caller } from '../auth/authenticate.ts';
import { LEVELS } from '#shared/mlfq-spec.ts';
import type { WorkerInfo } from '../cluster/worker-info.ts';
import type { KnownWorker, WorkerPool } from '../cluster/worker-pool.ts';
import type { ClassCounts } from '../workload/work-class.ts';
import { tenantGroups, type GroupSnapshot } from '../workload/group-snapshot.ts';
import type { Admission } from '../workload/admission.ts';
import type { WorkloadFile } from '../workload/workload-file.ts';

/** The view of a cluster beside its statements. */
export interface ClusterView {
  /** The resource groups that statements of the caller's tenant can reach, each before the groups below it. */
  groups(caller: Caller): readonly GroupSnapshot[];
  /** The coordinator that is active and its workers. */
  cluster(): ClusterState;
  /** The feedback queues of all live workers together. */
  feedbackQueue(): FeedbackQueue;
  /** Why the workload file as it is now is not in force; null = it is. It names the file and parts of it. */
  workloadProblem(): string | null;
  /** The figures of the last hour, the oldest first. */
  series(): readonly ClusterPoint[];
  /** Pairs of live workers that do not reach each other, by their names. */
  workersApart(): readonly string[];
}

/** The cluster at one moment. Numbers alone: no tenant, user, group or statement is named. */
export type ClusterPoint = {
  readonly atMs: number;
  readonly running: number;
  readonly queued: number;
  readonly classes: ClassCounts;
  readonly slots: number;
  readonly tasks: number;
  readonly memoryLimitBytes: number;
  readonly memoryGrantedBytes: number;
  readonly spoolBytes: number;
};

export type FeedbackQueue = {
  /** Tasks that have begun and not ended. */
  readonly running: number;
  /** Tasks that slots can run at once. */
  readonly slots: number;
  /** Queries that have a task or output on a worker. */
  readonly queries: number;
  /** By level, the top one first: tasks that can run and wait for their turn, those that run included. */
  readonly tasks: readonly number[];
  /** By level: time that tasks have had on slots since their workers' start, in ms. */
  readonly scheduledMs: readonly number[];
};

export type ClusterState = {
  readonly coordinator: {
    readonly id: string;
    readonly release: Release;
    /** Number of its term as the active coordinator. */
    readonly epoch: number;
    readonly activeSinceMs: number;
  };
  /** Queries of all tenants. */
  readonly running: number;
  readonly queued: number;
  /** By name; those that have never answered come last. */
  readonly workers: readonly WorkerView[];
};

/** `draining`: it takes no new tasks, and ends when its tasks have ended. */
export const WORKER_STATES = ['live', 'draining', 'connecting', 'refused', 'lost'] as const;
type WorkerViewState = (typeof WORKER_STATES)[number];

/** A worker as the coordinator knows it: figures are those of its last heartbeat, null before the first. */
export type WorkerView = {
  /** Null before its first heartbeat. */
  readonly name: string | null;
  readonly state: WorkerViewState;
  /** Time since which its link is in this state, whether it drains or not. */
  readonly sinceMs: number;
  readonly release: Release | null;
  /** Cores that run tasks. */
  readonly slots: number | null;
  /** Threads that this coordinator's tasks have there now. */
  readonly threads: number;
  readonly runningTasks: number | null;
  readonly memoryLimitBytes: number | null;
  /** Memory limits of its running tasks, in all. */
  readonly memoryGrantedBytes: number | null;
  readonly spoolBytes: number | null;
};

type ViewParts = {
  readonly coordinatorId: string;
  readonly epoch: number;
  readonly activeSinceMs: number;
  readonly admission: Pick<Admission, 'running' | 'queued' | 'describe' | 'rules'>;
  readonly pool: Pick<WorkerPool, 'states' | 'open'> & { readonly pairs: Pick<WorkerPool['pairs'], 'apart'> };
  readonly workload: Pick<WorkloadFile, 'problem'>;
};

/** The view of a coordinator's term, without the figures of the past. */
export function clusterView(parts: ViewParts): Omit<ClusterView, 'series'> {
  const { coordinatorId, epoch, activeSinceMs, admission, pool, workload } = parts;
  const release = { skein: SKEIN_RELEASE, duckdb: DUCKDB_RELEASE };
  const coordinator = { id: coordinatorId, release, epoch, activeSinceMs };
  return {
    groups: ({ claims }) => tenantGroups(admission, claims.tenant),
    cluster: () => ({
      coordinator,
      running: admission.running,
      queued: admission.queued,
      workers: pool.states().map(workerView).toSorted(byName),
    }),
    feedbackQueue: () => feedbackQueue(pool.open().map(({ info }) => info)),
    workloadProblem: () => workload.problem,
    workersApart: () => pool.pairs.apart,
  };
}

function feedbackQueue(workers: readonly WorkerInfo[]): FeedbackQueue {
  const sum = (of: (info: WorkerInfo) => number): number => workers.reduce((total, info) => total + of(info), 0);
  const byLevel = (of: (info: WorkerInfo) => readonly number[]): readonly number[] =>
    Array.from({ length: LEVELS }, (_, level) => sum((info) => of(info)[level] ?? 0));
  return {
    running: sum(({ runningTasks }) => runningTasks),
    slots: sum(({ cores }) => cores),
    queries: new Set(workers.flatMap(({ queryIds }) => queryIds)).size,
    tasks: byLevel(({ levels }) => levels.tasks),
    scheduledMs: byLevel(({ levels }) => levels.scheduledMs),
  };
}

function workerView({ state, sinceMs, load, info }: KnownWorker): WorkerView {
  return {
    name: info?.name ?? null,
    state: state.kind === 'live' && state.info.draining ? 'draining' : state.kind,
    sinceMs,
    release: info?.release ?? null,
    slots: info?.cores ?? null,
    threads: load,
    runningTasks: info?.runningTasks ?? null,
    memoryLimitBytes: info?.memoryLimitBytes ?? null,
    memoryGrantedBytes: info?.memoryGrantedBytes ?? null,
    spoolBytes: info?.spoolBytes ?? null,
  };
}

function byName({ name: a }: WorkerView, { name: b }: WorkerView): number {
  if (a === b) return 0;
  return b === null || (a !== null && a < b) ? -1 : 1;
}
