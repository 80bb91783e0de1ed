import type { WorkerClient } from '#proto/generated/skein/worker/v1/Worker.ts';
import { decodeReport } from '#shared/task/report-codec.ts';
import type { TaskReport } from '#shared/task/task.ts';
import type { CallStream } from '#shared/grpc/call-stream.ts';
import { taskId, type QueryId, type TaskId } from '#shared/id.ts';
import { readTaskTime, type TaskTime } from '../cluster/worker-info.ts';
import type { LiveWorker } from '../cluster/worker-pool.ts';
import { startTask, type TaskStart } from './start-task.ts';

/** The outcome of a task with spooled output. `inputLost` names the task whose output it could not read. */
export type SpooledEnd =
  | { readonly kind: 'finished'; readonly report: TaskReport }
  | { readonly kind: 'inputLost'; readonly producer: TaskId };

/** Runs a task whose output stays on the worker. @throws SkeinError: the worker's error, CONNECTION_LOST, or the signal's reason. */
export async function runSpooledTask(task: TaskStart): Promise<SpooledEnd> {
  const reply = await startTask(task);
  if (reply.lost !== null) return { kind: 'inputLost', producer: taskId(reply.lost.task_id) };
  return { kind: 'finished', report: decodeReport(reply) };
}

/** Ends a query on those of its workers that are not lost; returns what `endQuery` returns of each. */
export async function endOnWorkers(workers: Iterable<LiveWorker>, queryId: QueryId): Promise<readonly TaskTime[]> {
  const alive = [...workers].filter(({ lost }) => !lost.aborted);
  return (await Promise.all(alive.map(({ link }) => endQuery(link.calls, queryId)))).flat();
}

/** Deadline for a worker to confirm that a query's tasks have stopped and their output is deleted. */
const END_TIMEOUT_MS = 5_000;

/**
 * Ends a query's tasks on a worker and deletes their output. Returns what those have cost that had not ended; nothing when the worker did
 * not confirm in time. Never throws.
 */
export async function endQuery(calls: CallStream<WorkerClient>, queryId: QueryId): Promise<readonly TaskTime[]> {
  try {
    const { tasks } = await calls.call('EndQuery', { query_id: queryId }, { timeoutMs: END_TIMEOUT_MS });
    return tasks.map(readTaskTime);
  } catch {
    return [];
  }
}
