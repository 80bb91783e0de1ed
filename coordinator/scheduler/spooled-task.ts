import type { WorkerClient } from '#proto/generated/skein/worker/v1/Worker.ts';
import { encodeTaskSpec } from '#proto/task-codec.ts';
import type { TaskReport, TaskSpec } from '#proto/task.ts';
import { SkeinError } from '#shared/error.ts';
import { callUnary } from '#shared/grpc/call-unary.ts';
import { decodeError } from '#shared/grpc/internal-auth.ts';
import { taskId, type QueryId, type TaskId } from '#shared/id.ts';
import type { Keyring } from '#shared/keyring.ts';

export type SpooledTask = {
  readonly client: WorkerClient;
  readonly keyring: Keyring;
  readonly spec: TaskSpec;
  readonly ticket: string;
  readonly taskBytesMax: number;
  /** Aborts the run; its reason is the error that the run throws. The worker ends the task when it sees the call cancelled. */
  readonly signal: AbortSignal;
};

/** The outcome of a task with spooled output. `inputLost` names the task whose output it could not read. */
export type SpooledEnd =
  | { readonly kind: 'finished'; readonly report: TaskReport }
  | { readonly kind: 'inputLost'; readonly producer: TaskId };

/** Runs a task whose output stays on the worker. @throws SkeinError: the worker's error, CONNECTION_LOST, or the signal's reason. */
export async function runSpooledTask(task: SpooledTask): Promise<SpooledEnd> {
  task.signal.throwIfAborted();
  const spec = await encodeTaskSpec(task.spec);
  task.signal.throwIfAborted();
  if (spec.length > task.taskBytesMax) throw tooLong(spec.length, task.taskBytesMax);
  const { client, keyring, ticket, signal } = task;
  const reply = await callUnary(client, 'RunTask', { spec, ticket }, { keyring, signal, lost: 'CONNECTION_LOST' });
  if (reply.failure.length > 0) throw decodeError(reply.failure);
  if (reply.lost !== null) return { kind: 'inputLost', producer: taskId(reply.lost.task_id) };
  return { kind: 'finished', report: JSON.parse(reply.report.toString()) as TaskReport };
}

export const tooLong = (bytes: number, bytesMax: number): SkeinError =>
  new SkeinError(
    'STATEMENT_TOO_COMPLEX',
    `the query reads too many files: its task takes ${bytes} bytes, ${bytesMax} are allowed`,
  );

/** Deadline for a worker to confirm that a query's tasks have stopped and their output is deleted. */
const END_TIMEOUT_MS = 5_000;

/** Ends a query's tasks on a worker and deletes their output; false when the worker did not confirm in time. Never throws. */
export async function endQuery(client: WorkerClient, keyring: Keyring, queryId: QueryId): Promise<boolean> {
  const settings = { keyring, timeoutMs: END_TIMEOUT_MS, lost: 'CONNECTION_LOST' } as const;
  try {
    await callUnary(client, 'EndQuery', { query_id: queryId }, settings);
    return true;
  } catch {
    return false;
  }
}
