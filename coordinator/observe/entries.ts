import { cutText } from '#shared/cut-text.ts';
import type { HistoryRow } from '../history/history-record.ts';
import type { LiveQuery } from '../operation/live-query.ts';
import type { GroupSnapshot } from '../workload/group-snapshot.ts';
import type { ClusterState, FeedbackQueue, WorkerView } from './cluster-view.ts';

/** The cluster's state, as the HTTP API prints it; `api-types.ts` describes each. */

/** Longest text of a statement in an event, and of its error: a stream has many. */
const TEXT_BYTES_MAX = 500;

export const groupEntry = (group: GroupSnapshot) => ({
  path: group.path,
  running: group.running,
  queued: group.queued,
  hard_concurrency_limit: group.hardConcurrencyLimit,
  soft_concurrency_limit: group.softConcurrencyLimit,
  effective_concurrency: group.effectiveConcurrency,
  max_queued_queries: group.maxQueuedQueries,
  memory_bytes: group.memoryBytes,
  soft_memory_limit_bytes: group.softMemoryLimitBytes,
  soft_cpu_limit_ms: group.softCpuLimitMs,
  hard_cpu_limit_ms: group.hardCpuLimitMs,
  scheduling_policy: group.schedulingPolicy,
  scheduling_weight: group.schedulingWeight,
  cpu_time_ms: Math.round(group.cpuTimeMs),
  cpu_usage_ms: Math.round(group.cpuUsageMs),
});

/** The members of a group that the specification's `/api/qos/stats` has. */
export const groupStats = ({ path, running, queued, hardConcurrencyLimit, schedulingPolicy }: GroupSnapshot) => ({
  path,
  running,
  queued,
  hard_concurrency_limit: hardConcurrencyLimit,
  scheduling_policy: schedulingPolicy,
});

export const queueStats = ({ running, slots, queries, tasks, scheduledMs }: FeedbackQueue) => ({
  running,
  max_concurrent: slots,
  tracked_queries: queries,
  level_queue_depths: [...tasks],
  level_scheduled_ms: scheduledMs.map(Math.round),
});

export const workerEntry = (worker: WorkerView) => ({
  name: worker.name,
  state: worker.state,
  since: timeOf(worker.sinceMs),
  version: worker.release?.skein ?? null,
  duckdb_version: worker.release?.duckdb ?? null,
  slots: worker.slots,
  threads: worker.threads,
  running_tasks: worker.runningTasks,
  memory_limit_bytes: worker.memoryLimitBytes,
  memory_granted_bytes: worker.memoryGrantedBytes,
  spool_bytes: worker.spoolBytes,
});

/** The cluster without its workers. */
export const clusterEntry = ({ coordinator, running, queued }: ClusterState) => ({
  coordinator: {
    id: coordinator.id,
    version: coordinator.release.skein,
    duckdb_version: coordinator.release.duckdb,
    epoch: coordinator.epoch,
    active_since: timeOf(coordinator.activeSinceMs),
  },
  queries_running: running,
  queries_queued: queued,
});

/** A record does not tell these: they are known while the statement waits. */
const NOT_WAITING: {
  readonly queue_position: number | null;
  readonly reason: string | null;
} = {
  queue_position: null,
  reason: null,
};

export type QueryEntry = ReturnType<typeof recordEntry>;

/** A statement as its history record tells, with its class; null = it is not planned, or runs no query. */
export const recordEntry = (row: HistoryRow, workClass: string | null) => ({
  query_id: row.query_id,
  status: row.status,
  sql: cutText(row.sql, TEXT_BYTES_MAX),
  user_id: row.user_id,
  username: row.username,
  query_type: row.query_type,
  source: row.source,
  resource_group: row.resource_group,
  priority: row.priority,
  workload_class: workClass,
  ...NOT_WAITING,
  queued_at: row.queued_at.toISOString(),
  started_at: row.started_at?.toISOString() ?? null,
  ended_at: row.ended_at?.toISOString() ?? null,
  duration_ms: row.duration_ms,
  rows_produced: row.rows_produced,
  bytes_scanned: row.bytes_scanned,
  error_code: row.error_code,
  error_message: row.error_message === null ? null : cutText(row.error_message, TEXT_BYTES_MAX),
});

/** A statement that waits or runs, in the form of its record. */
export const liveEntry = (live: LiveQuery): QueryEntry => ({
  query_id: live.queryId,
  status: live.state === 'queued' ? 'queued' : 'running',
  sql: cutText(live.sql, TEXT_BYTES_MAX),
  user_id: live.principal,
  username: live.username,
  query_type: live.queryType,
  source: live.source,
  resource_group: live.resourceGroup,
  priority: live.priority,
  workload_class: live.classification?.workClass ?? null,
  queue_position: live.waiting?.position ?? null,
  reason: live.waiting?.reason ?? null,
  queued_at: timeOf(live.queuedAtMs),
  started_at: live.startedAtMs === null ? null : timeOf(live.startedAtMs),
  ended_at: null,
  duration_ms: null,
  rows_produced: live.rowsProduced,
  bytes_scanned: live.progress.bytesScanned,
  error_code: null,
  error_message: null,
});

/** How far a statement is that runs. */
export const tasksEntry = ({ queryId, principal, rowsProduced, progress }: LiveQuery) => ({
  query_id: queryId,
  user_id: principal,
  rows_produced: rowsProduced,
  bytes_scanned: progress.bytesScanned,
  tasks: progress.tasks,
  tasks_running: progress.tasksRunning,
  tasks_done: progress.tasksDone,
  workers: progress.workers,
});

const timeOf = (ms: number): string => new Date(ms).toISOString();
