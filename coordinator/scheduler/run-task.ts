import type { Client, ClientReadableStream, Metadata, ServiceError } from '@grpc/grpc-js';
import { encodeTaskSpec } from '#proto/task-codec.ts';
import type { TaskReport, TaskSpec } from '#proto/task.ts';
import { SkeinError } from '#shared/error.ts';
import { fromServiceError, internalMetadata } from '#shared/grpc/internal-auth.ts';
import { must } from '#shared/must.ts';
import { decodeFlightData, encodeTicket, type FlightData } from './flight-data.ts';

export type TaskRun = {
  readonly client: Client;
  readonly secret: string;
  readonly spec: TaskSpec;
  /** Signed, for StartTask and DoGet alike. */
  readonly ticket: string;
  /** Its reason is the error of the run. */
  readonly signal: AbortSignal;
  /** Takes one message; the next is asked for when it has answered, so a slow reader slows the worker. */
  readonly onMessage: (message: FlightData) => Promise<void> | void;
};

/** Time in which a worker must take a task, its scan list read and checked. */
const START_TIMEOUT_MS = 30_000;
/** Time in which a worker must say that a task has stopped. */
const CANCEL_TIMEOUT_MS = 5_000;

const DO_GET = '/arrow.flight.protocol.FlightService/DoGet';

/**
 * Runs a task and reads its output to the end. StartTask and DoGet go out together: one round trip less. When the run fails or is
 * aborted, the worker has stopped the task (or did not answer in time) before this throws.
 */
export async function runTask(run: TaskRun): Promise<TaskReport> {
  run.signal.throwIfAborted();
  const metadata = internalMetadata(run.secret);
  const request = { spec: Buffer.from(encodeTaskSpec(run.spec)), ticket: run.ticket };
  const started = control(run.client, 'StartTask', { request, metadata, timeoutMs: START_TIMEOUT_MS });
  const stream = run.client.makeServerStreamRequest(DO_GET, encodeTicket, decodeFlightData, run.ticket, metadata);
  readOneByOne(stream);
  // The loop below sees every error; one that comes after it has left must not end the process.
  stream.on('error', () => undefined);
  let startError: SkeinError | undefined;
  started.catch((error: unknown) => {
    startError = fromServiceError(error, 'WORKER_LOST');
    stream.cancel();
  });
  const cancel = (): void => stream.cancel();
  run.signal.addEventListener('abort', cancel, { once: true });
  try {
    let report: TaskReport | undefined;
    for await (const message of stream as AsyncIterable<FlightData>) {
      if (message.appMetadata.length > 0) report = JSON.parse(message.appMetadata.toString()) as TaskReport;
      const taken = run.onMessage(message);
      if (taken !== undefined) await taken;
      run.signal.throwIfAborted();
    }
    await started;
    return must(report, 'the last message of a task has its report');
  } catch (error) {
    const failure = run.signal.aborted ? SkeinError.of(run.signal.reason) : (startError ?? failed(error));
    await cancelTask(run, metadata, failure);
    throw failure;
  } finally {
    run.signal.removeEventListener('abort', cancel);
    stream.cancel();
  }
}

const failed = (error: unknown): SkeinError =>
  isServiceError(error) ? fromServiceError(error, 'WORKER_LOST') : SkeinError.of(error);

const isServiceError = (error: unknown): error is ServiceError =>
  error instanceof Error && typeof (error as Partial<ServiceError>).code === 'number';

async function cancelTask(run: TaskRun, metadata: Metadata, failure: SkeinError): Promise<void> {
  if (failure.code === 'WORKER_LOST') return;
  const request = { task_id: run.spec.taskId, code: failure.code, reason: failure.message };
  await control(run.client, 'CancelTask', { request, metadata, timeoutMs: CANCEL_TIMEOUT_MS }).catch(() => undefined);
}

type Control = { readonly request: object; readonly metadata: Metadata; readonly timeoutMs: number };
type ControlMethod = (
  request: object,
  metadata: Metadata,
  options: { deadline: number },
  callback: (error: ServiceError | null) => void,
) => void;

function control(client: Client, method: 'StartTask' | 'CancelTask', call: Control): Promise<void> {
  return new Promise((resolve, reject) => {
    const invoke = must((client as unknown as Record<string, ControlMethod>)[method], `worker.proto has ${method}`);
    invoke.call(client, call.request, call.metadata, { deadline: Date.now() + call.timeoutMs }, (error) =>
      error === null ? resolve() : reject(error),
    );
  });
}

/**
 * grpc-js reads ahead 16 messages whatever their size (an object stream's default): 64 MB for each slow reader. One is enough, and
 * there is no option for it.
 */
function readOneByOne(stream: ClientReadableStream<FlightData>): void {
  const { _readableState: state } = stream as unknown as { _readableState: { highWaterMark: number } };
  state.highWaterMark = 1;
}
