import type { Client, ClientUnaryCall, Metadata, ServiceError } from '@grpc/grpc-js';
import { encodeTaskSpec } from '#proto/task-codec.ts';
import type { TaskReport, TaskSpec } from '#proto/task.ts';
import { SkeinError } from '#shared/error.ts';
import { decodeError, fromServiceError, internalMetadata } from '#shared/grpc/internal-auth.ts';
import { taskId, type QueryId, type TaskId } from '#shared/id.ts';
import type { Keyring } from '#shared/keyring.ts';
import { must } from '#shared/must.ts';

export type SpooledTask = {
  readonly client: Client;
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

type Reply = {
  readonly report: Buffer;
  readonly lost: { readonly address: string; readonly task_id: string } | null | undefined;
  /** Empty unless the task failed. */
  readonly failure?: Buffer;
};
type Unary<Request, Answer> = (
  request: Request,
  metadata: Metadata,
  options: { deadline?: number },
  callback: (error: ServiceError | null, reply?: Answer) => void,
) => ClientUnaryCall;

const method = <Request, Answer>(client: Client, name: string): Unary<Request, Answer> => {
  const found = (client as unknown as Record<string, Unary<Request, Answer> | undefined>)[name];
  return must(found, `worker.proto has ${name}`).bind(client);
};

/** Runs a task whose output stays on the worker. @throws SkeinError: the worker's error, CONNECTION_LOST, or the signal's reason. */
export async function runSpooledTask(task: SpooledTask): Promise<SpooledEnd> {
  task.signal.throwIfAborted();
  const spec = await encodeTaskSpec(task.spec);
  task.signal.throwIfAborted();
  if (spec.length > task.taskBytesMax) throw tooLong(spec.length, task.taskBytesMax);
  return await new Promise((resolve, reject) => {
    const { signal } = task;
    const abort = (): void => {
      call.cancel();
      reject(SkeinError.of(signal.reason));
    };
    const run = method<object, Reply>(task.client, 'RunTask');
    const call = run({ spec, ticket: task.ticket }, internalMetadata(task.keyring), {}, (error, reply) => {
      signal.removeEventListener('abort', abort);
      if (error !== null) {
        reject(fromServiceError(error, 'CONNECTION_LOST'));
        return;
      }
      const { failure = Buffer.alloc(0), ...end } = must(reply, 'a reply or an error');
      if (failure.length > 0) reject(decodeError(failure));
      else resolve(ended(end));
    });
    signal.addEventListener('abort', abort, { once: true });
  });
}

function ended({ report, lost }: Omit<Reply, 'failure'>): SpooledEnd {
  if (lost !== null && lost !== undefined) return { kind: 'inputLost', producer: taskId(lost.task_id) };
  return { kind: 'finished', report: JSON.parse(report.toString()) as TaskReport };
}

export const tooLong = (bytes: number, bytesMax: number): SkeinError =>
  new SkeinError(
    'STATEMENT_TOO_COMPLEX',
    `the query reads too many files: its task takes ${bytes} bytes, ${bytesMax} are allowed`,
  );

/** Deadline for a worker to confirm that a query's tasks have stopped and their output is deleted. */
const END_TIMEOUT_MS = 5_000;

/** Ends a query's tasks on a worker and deletes their output; false when the worker did not confirm in time. Never throws. */
export function endQuery(client: Client, keyring: Keyring, queryId: QueryId): Promise<boolean> {
  return new Promise((resolve) => {
    const end = method<object, object>(client, 'EndQuery');
    const options = { deadline: Date.now() + END_TIMEOUT_MS };
    end({ query_id: queryId }, internalMetadata(keyring), options, (error) => resolve(error === null));
  });
}
