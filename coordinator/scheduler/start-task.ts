import type { RunTaskReply } from '#proto/generated/skein/worker/v1/RunTaskReply.ts';
import type { WorkerClient } from '#proto/generated/skein/worker/v1/Worker.ts';
import { encodeTaskSpec } from '#shared/task/task-codec.ts';
import type { TaskSpec } from '#shared/task/task.ts';
import { SkeinError } from '#shared/error.ts';
import type { CallStream } from '#shared/grpc/call-stream.ts';
import { decodeError } from '#shared/grpc/internal-auth.ts';

export type TaskStart = {
  readonly calls: CallStream<WorkerClient>;
  readonly spec: TaskSpec;
  readonly ticket: string;
  readonly taskBytesMax: number;
  /** Aborts the run; its reason is the error that the run throws. The worker ends the task when it sees the call cancelled. */
  readonly signal: AbortSignal;
};

/** Sends a task to its worker; returns what it answers. @throws SkeinError: the task's error, CONNECTION_LOST, or the signal's reason. */
export async function startTask({ calls, spec: task, ticket, taskBytesMax, signal }: TaskStart): Promise<RunTaskReply> {
  signal.throwIfAborted();
  const { spec, messages } = await encodeTaskSpec(task);
  const bytes = messages.reduce((sum, { length }) => sum + length, spec.length);
  if (bytes > taskBytesMax) throw tooLong(bytes, taskBytesMax);
  const reply = await calls.call('RunTask', { spec, messages, ticket }, { signal });
  if (reply.failure.length > 0) throw decodeError(reply.failure);
  return reply;
}

const tooLong = (bytes: number, bytesMax: number): SkeinError =>
  new SkeinError(
    'STATEMENT_TOO_COMPLEX',
    `the query reads too many files: its task takes ${bytes} bytes, ${bytesMax} are allowed`,
  );
