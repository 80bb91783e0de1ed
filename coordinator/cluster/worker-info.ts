import type { TaskTime as WireTaskTime } from '#proto/generated/skein/worker/v1/TaskTime.ts';
import type { WorkerBeat } from '#proto/generated/skein/worker/v1/WorkerBeat.ts';
import { queryId, taskId, type QueryId, type TaskId } from '#shared/id.ts';
import type { Release } from '#shared/release.ts';
import type { HungRun } from './worker-ending.ts';

/** The costs so far of a task that runs. `bytesScanned`: of the column chunks that its scans read. */
export type TaskTime = {
  readonly queryId: QueryId;
  readonly taskId: TaskId;
  readonly scheduledMs: number;
  readonly bytesScanned: number;
};

/** A worker's heartbeat: `WorkerBeat` of proto/worker.proto. */
export type WorkerInfo = {
  readonly id: string;
  readonly name: string;
  readonly release: Release;
  readonly cores: number;
  readonly memoryLimitBytes: number;
  readonly runningTasks: number;
  readonly spoolBytes: number;
  /** Memory limits of its running tasks, in all. */
  readonly memoryGrantedBytes: number;
  /** By level of the feedback queue: tasks that can run, and the time that they have had since the worker's start, in ms. */
  readonly levels: { readonly tasks: readonly number[]; readonly scheduledMs: readonly number[] };
  readonly draining: boolean;
  /** The machine that it runs on, whose cores it may share with other workers. */
  readonly machine: { readonly id: string; readonly cores: number };
  /** Queries that have a task or spooled output there. */
  readonly queryIds: readonly QueryId[];
  /** The tasks that run there. */
  readonly tasks: readonly TaskTime[];
  /** The run for which its process ends now. */
  readonly hung: HungRun | null;
  /** The run for which its process is to end, once it is permitted. */
  readonly asksToEnd: HungRun | null;
  /** Slots that take tasks and can run them now. */
  readonly openSlots: number;
  /** The keys in whose place its tasks wait for others. */
  readonly wantedKeys: readonly { readonly queryId: QueryId; readonly credentialId: string }[];
};

export const workerInfo = (wire: WorkerBeat): WorkerInfo => ({
  id: wire.worker_id,
  name: wire.name,
  release: { skein: wire.skein_release, duckdb: wire.duckdb_version.replace(/^v/, '') },
  cores: Math.max(1, wire.cores),
  memoryLimitBytes: Number(wire.memory_limit_bytes),
  runningTasks: wire.running_tasks,
  spoolBytes: Number(wire.spool_bytes),
  memoryGrantedBytes: Number(wire.memory_granted_bytes),
  levels: { tasks: wire.level_tasks, scheduledMs: wire.level_scheduled_ms },
  draining: wire.draining,
  machine: { id: wire.machine_id, cores: Math.max(1, wire.machine_cores) },
  queryIds: wire.query_ids.map(queryId),
  tasks: wire.tasks.map(readTaskTime),
  hung: hungRun(wire.hung),
  asksToEnd: hungRun(wire.asks_to_end),
  openSlots: wire.open_slots,
  wantedKeys: wire.wanted_keys.map((one) => ({ queryId: queryId(one.query_id), credentialId: one.credential_id })),
});

const hungRun = (wire: WorkerBeat['hung']): HungRun | null =>
  wire === null ? null : { queryId: queryId(wire.query_id), quantumMs: Number(wire.quantum_ms) };

/** The costs of a task as its worker tells them. */
export const readTaskTime = (wire: WireTaskTime): TaskTime => ({
  queryId: queryId(wire.query_id),
  taskId: taskId(wire.task_id),
  scheduledMs: wire.scheduled_ms,
  bytesScanned: wire.bytes_scanned,
});
