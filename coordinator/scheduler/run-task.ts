import type { ClientReadableStream, ServiceError } from '@grpc/grpc-js';
import { decodeReport } from '#shared/task/report-codec.ts';
import type { StreamEnd, TaskReport } from '#shared/task/task.ts';
import { atMost } from '#shared/at-most.ts';
import { SkeinError } from '#shared/error.ts';
import { fromServiceError, internalMetadata, readError } from '#shared/grpc/internal-auth.ts';
import { loadService } from '#shared/grpc/load-proto.ts';
import type { Keyring } from '#shared/keyring.ts';
import { must } from '#shared/must.ts';
import { startTask, type TaskStart } from './start-task.ts';
import { decodeFlightData, type FlightData } from '#shared/flight/flight-data.ts';

export type TaskRun = TaskStart & {
  readonly keyring: Keyring;
  /** Takes one message. The next is requested when it resolves, so a slow reader slows the worker. */
  readonly onMessage: (message: FlightData<Buffer>) => Promise<void> | void;
  /** Called with the bytes that the task has scanned when it is stopped. */
  readonly onStopped: (bytesScanned: number) => void;
};

/** Deadline for a worker to confirm that a task has stopped. */
const CANCEL_TIMEOUT_MS = 5_000;
/**
 * Time that the end of a run waits for this confirmation. It nearly always takes a few milliseconds, but longer when a slot does not
 * respond.
 */
const CONFIRM_MAX_MS = 300;

const { DoGet } = loadService('flight.proto', 'arrow.flight.protocol.FlightService').definition;

/**
 * Runs a task and reads its output to the end: what comes with the worker's answer, or, when it is more, what a DoGet gives. When the run
 * fails or is aborted, the worker is told to stop the task, and this waits up to `CONFIRM_MAX_MS` for the confirmation before it throws.
 * @throws SkeinError: the worker's error, the signal's reason, or CONNECTION_LOST, which does not mean that the worker is lost.
 */
export async function runTask(run: TaskRun): Promise<TaskReport> {
  run.signal.throwIfAborted();
  let abort: () => void = () => undefined;
  // A reader that has stopped reading must not keep the query beyond its end.
  const aborted = new Promise<never>((_resolve, reject) => {
    abort = () => reject(SkeinError.of(run.signal.reason));
  });
  aborted.catch(() => undefined);
  run.signal.addEventListener('abort', abort, { once: true });
  const take = async (message: FlightData<Buffer>): Promise<void> => {
    const taken = run.onMessage(message);
    if (taken !== undefined) await Promise.race([taken, aborted]);
    run.signal.throwIfAborted();
  };
  try {
    const reply = await startTask(run);
    if (reply.is_open) return await readOutput(run, take);
    for (const message of reply.output) await take(decodeFlightData(message));
    return decodeReport(reply);
  } catch (error) {
    const failure = run.signal.aborted ? SkeinError.of(run.signal.reason) : failed(error);
    await atMost(cancelTask(run, failure), CONFIRM_MAX_MS);
    throw failure;
  } finally {
    run.signal.removeEventListener('abort', abort);
  }
}

/** Reads the output of a task that has been started. */
async function readOutput(
  { calls: { client }, ticket, keyring, signal }: TaskRun,
  take: (message: FlightData<Buffer>) => Promise<void>,
): Promise<TaskReport> {
  const stream = client.makeServerStreamRequest(
    DoGet.path,
    DoGet.requestSerialize,
    (bytes: Buffer) => decodeFlightData(bytes),
    { ticket: Buffer.from(ticket) },
    internalMetadata(keyring),
  );
  readOneByOne(stream);
  // The loop below sees every error; one that comes after it has left must not end the process.
  stream.on('error', () => undefined);
  const abort = (): void => stream.cancel();
  signal.addEventListener('abort', abort, { once: true });
  try {
    let report: TaskReport | undefined;
    for await (const message of stream as AsyncIterable<FlightData<Buffer>>) {
      if (message.metadata.length > 0) report = reportOf(message.metadata);
      await take(message);
    }
    return must(report, 'the last message of a task has its report');
  } finally {
    signal.removeEventListener('abort', abort);
    stream.cancel();
  }
}

/** Reads the report in a task's last message. @throws the error that the task failed with. */
function reportOf(metadata: Uint8Array): TaskReport {
  const end = JSON.parse(Buffer.from(metadata).toString()) as StreamEnd;
  if ('failure' in end) throw readError(end.failure);
  return end;
}

const failed = (error: unknown): SkeinError =>
  isServiceError(error) ? fromServiceError(error, 'CONNECTION_LOST') : SkeinError.of(error);

const isServiceError = (error: unknown): error is ServiceError =>
  error instanceof Error && typeof (error as Partial<ServiceError>).code === 'number';

/** Tells the worker to stop the task; resolves when it has confirmed, or cannot. A lost worker is not told. */
async function cancelTask({ calls, spec, onStopped }: TaskRun, failure: SkeinError): Promise<void> {
  if (failure.code === 'WORKER_LOST') return;
  const request = { task_id: spec.taskId, code: failure.code, reason: failure.message };
  // A client that is closed throws: this life of the worker is over, and with it the task.
  const reply = await calls.call('CancelTask', request, { timeoutMs: CANCEL_TIMEOUT_MS }).catch(() => undefined);
  if (reply !== undefined) onStopped(reply.bytes_scanned);
}

/**
 * grpc-js reads ahead 16 messages whatever their size (an object stream's default): 64 MB for each slow reader. One is enough, and
 * there is no option for it.
 */
function readOneByOne(stream: ClientReadableStream<FlightData<Buffer>>): void {
  const { _readableState: state } = stream as unknown as { _readableState: { highWaterMark: number } };
  state.highWaterMark = 1;
}
