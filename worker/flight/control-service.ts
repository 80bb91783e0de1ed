import type { handleUnaryCall, sendUnaryData, ServerUnaryCall } from '@grpc/grpc-js';
import type { CancelTaskReplyInput } from '#proto/generated/skein/worker/v1/CancelTaskReply.ts';
import type { CancelTaskRequest } from '#proto/generated/skein/worker/v1/CancelTaskRequest.ts';
import type { ClearCacheReplyInput } from '#proto/generated/skein/worker/v1/ClearCacheReply.ts';
import type { ClearCacheRequest } from '#proto/generated/skein/worker/v1/ClearCacheRequest.ts';
import type { CoordinatorBeat } from '#proto/generated/skein/worker/v1/CoordinatorBeat.ts';
import type { DrainReplyInput } from '#proto/generated/skein/worker/v1/DrainReply.ts';
import type { DrainRequest } from '#proto/generated/skein/worker/v1/DrainRequest.ts';
import type { EndQueryReplyInput } from '#proto/generated/skein/worker/v1/EndQueryReply.ts';
import type { EndQueryRequest } from '#proto/generated/skein/worker/v1/EndQueryRequest.ts';
import type { QueryLevel } from '#proto/generated/skein/worker/v1/QueryLevel.ts';
import type { ReadPartitionReplyInput } from '#proto/generated/skein/worker/v1/ReadPartitionReply.ts';
import type { ReadPartitionRequest } from '#proto/generated/skein/worker/v1/ReadPartitionRequest.ts';
import type { ReachReplyInput } from '#proto/generated/skein/worker/v1/ReachReply.ts';
import type { ReachRequest } from '#proto/generated/skein/worker/v1/ReachRequest.ts';
import type { RenewKeyReplyInput } from '#proto/generated/skein/worker/v1/RenewKeyReply.ts';
import type { RenewKeyRequest } from '#proto/generated/skein/worker/v1/RenewKeyRequest.ts';
import type { RunTaskReplyInput } from '#proto/generated/skein/worker/v1/RunTaskReply.ts';
import type { RunTaskRequest } from '#proto/generated/skein/worker/v1/RunTaskRequest.ts';
import type { WorkerHandlers } from '#proto/generated/skein/worker/v1/Worker.ts';
import type { WorkerBeatInput } from '#proto/generated/skein/worker/v1/WorkerBeat.ts';
import { encodeReport } from '#shared/task/report-codec.ts';
import { decodeTaskHead } from '#shared/task/task-codec.ts';
import type { Clock } from '#shared/clock.ts';
import { ERRORS, SkeinError, type ErrorCode, type ErrorData } from '#shared/error.ts';
import { answerCalls } from '#shared/grpc/answer-calls.ts';
import type { ChannelSecurity } from '#shared/grpc/channel-security.ts';
import type { ClusterRole } from '#shared/grpc/cluster-role.ts';
import { encodeError, toServiceError } from '#shared/grpc/internal-auth.ts';
import { loadService } from '#shared/grpc/load-proto.ts';
import { queryId, taskId, type QueryId } from '#shared/id.ts';
import type { MlfqSpec } from '#shared/mlfq-spec.ts';
import type { StoreCredential } from '#shared/storage/credential.ts';
import { verifyTicket } from '#shared/ticket.ts';
import type { PeerClients } from '../exchange/peer-clients.ts';
import type { OrderedEnd } from '../ordered-end.ts';
import type { QueryTime } from '../turns/slot-messages.ts';
import type { TaskRegistry } from '../task/task-registry.ts';
import { parseTicket } from './flight-ticket.ts';
import { readShortPartition } from './send-partition.ts';

/** The state that a worker reports with every heartbeat: all of it. */
export type WorkerState = Required<WorkerBeatInput>;

export type ControlOptions = {
  readonly tasks: TaskRegistry;
  readonly peers: Pick<PeerClients, 'reaches'>;
  readonly end: OrderedEnd;
  readonly security: ChannelSecurity;
  readonly clock: Clock;
  readonly beat: () => WorkerState;
  readonly beatIntervalMs: number;
  /** Deletes copies of data files and objects that are kept. @returns their bytes */
  readonly clearCache: () => Promise<number>;
  /** Takes what the coordinator says of how slots share their time. */
  readonly onLevels: (spec: MlfqSpec) => void;
  /** Takes what it says of the time that queries have had. */
  readonly onQueryTimes: (queries: ReadonlyMap<QueryId, QueryTime>) => void;
};

const { definition } = loadService('worker.proto', 'skein.worker.v1.Worker');

/** The handlers of `skein.worker.v1.Worker`. */
export function controlHandlers(options: ControlOptions): WorkerHandlers {
  const { tasks, security, peers } = options;
  const ofCoordinator = <Request, Reply>(handle: Handle<Request, Reply>) => unary(security, COORDINATOR, handle);
  const carried = {
    RunTask: ofCoordinator(runTaskHandler(options)),
    ReadPartition: unary(security, READERS, readPartitionHandler(options)),
    EndQuery: ofCoordinator<EndQueryRequest, EndQueryReplyInput>(async (request) => {
      const ended = queryId(request.query_id);
      const times = tasks.times((task) => task.queryId === ended);
      await tasks.endQuery(ended);
      return { tasks: times };
    }),
    CancelTask: ofCoordinator<CancelTaskRequest, CancelTaskReplyInput>(async (request) => {
      const ended = taskId(request.task_id);
      const [time] = tasks.times((task) => task.taskId === ended);
      const found = await tasks.cancel(ended, new SkeinError(errorCode(request.code), request.reason));
      return { found, bytes_scanned: time?.bytes_scanned ?? 0 };
    }),
  };
  const asked = {
    ...carried,
    Reach: ofCoordinator<ReachRequest, ReachReplyInput>(async ({ address }) => ({
      reached: await peers.reaches(address),
    })),
    RenewKey: ofCoordinator<RenewKeyRequest, RenewKeyReplyInput>(async (request) => {
      const ticket = verifyTicket(request.ticket, security.keyring, options.clock.nowMs());
      const credential = JSON.parse(request.credential.toString()) as StoreCredential;
      return { found: tasks.renewKey(ticket, { replaces: request.old_credential_id, credential }) };
    }),
  };
  return {
    ...asked,
    Calls: answerCalls(definition, asked, (wire) => security.admit(wire, READERS)),
    Attach: attachHandler(options),
    ClearCache: unary<ClearCacheRequest, ClearCacheReplyInput>(security, ['operator'], async () => ({
      bytes: await options.clearCache(),
    })),
    Drain: unary<DrainRequest, DrainReplyInput>(security, ['coordinator', 'operator'], async () => {
      await tasks.drain();
      return {};
    }),
  };
}

function runTaskHandler({ tasks, security, clock }: ControlOptions): Handle<RunTaskRequest, RunTaskReplyInput> {
  return async (request, signal) => {
    const { ticket } = request;
    const verified = verifyTicket(ticket, security.keyring, clock.nowMs());
    const head = decodeTaskHead(request);
    if (head.output.kind === 'stream') {
      const whole = await tasks.stream(signal, head, verified);
      if (whole === null) return { is_open: true };
      const { messages, end } = whole;
      return end.kind === 'failed'
        ? failed(end.error)
        : { output: messages.map(asBuffer), ...encodeReport(end.report) };
    }
    const end = await tasks.run(signal, head, verified);
    if (end.kind === 'lost') return { lost: { address: end.lost.address, task_id: end.lost.taskId } };
    return end.kind === 'failed' ? failed(end.error) : encodeReport(end.report);
  };
}

function readPartitionHandler({
  tasks,
  security,
  clock,
}: ControlOptions): Handle<ReadPartitionRequest, ReadPartitionReplyInput> {
  return async ({ ticket }) => {
    const asked = parseTicket(ticket);
    if (asked.kind !== 'partition') throw new SkeinError('INVALID_REQUEST', 'the ticket is not for a partition');
    const opened = await tasks.openPartition(verifyTicket(asked.text, security.keyring, clock.nowMs()));
    const messages = await readShortPartition(opened, asked.range);
    return messages === null ? { is_long: true } : { messages: messages.map(asBuffer) };
  };
}

const failed = (error: ErrorData): RunTaskReplyInput => ({ failure: encodeError(SkeinError.fromData(error)) });
const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

const errorCode = (code: string): ErrorCode => (Object.hasOwn(ERRORS, code) ? (code as ErrorCode) : 'QUERY_CANCELLED');

/** Handles a unary call; `signal` aborts when the caller has gone. */
type Handle<Request, Reply> = (request: Request, signal: AbortSignal) => Promise<Reply>;

const COORDINATOR: readonly ClusterRole[] = ['coordinator'];
const READERS: readonly ClusterRole[] = [...COORDINATOR, 'worker'];

function unary<Request, Reply>(
  security: ChannelSecurity,
  callers: readonly ClusterRole[],
  handle: Handle<Request, Reply>,
): handleUnaryCall<Request, Reply> {
  const answer = async (call: ServerUnaryCall<Request, Reply>, callback: sendUnaryData<Reply>): Promise<void> => {
    let reply: Reply;
    const cancelled = new AbortController();
    call.on('cancelled', () => cancelled.abort());
    try {
      security.admit(call, callers);
      reply = await handle(call.request, cancelled.signal);
    } catch (error) {
      callback(toServiceError(error));
      return;
    }
    callback(null, reply);
  };
  return (call, callback) => void answer(call, callback);
}

const queryTime = ({ scheduled_ms: scheduledMs, pinned_to_top: pinnedToTop }: QueryLevel): QueryTime => ({
  scheduledMs,
  pinnedToTop,
});

/**
 * Exchanges heartbeats in both directions. The worker sends its first at once, so that the coordinator learns its identity, and sends one
 * at once when it begins to drain, when it asks whether its process may end, and when that ends.
 */
function attachHandler(options: ControlOptions): WorkerHandlers['Attach'] {
  const { tasks, end, security, beat, beatIntervalMs, onLevels, onQueryTimes } = options;
  return (call) => {
    const tell = (): void => void call.write(beat());
    const stop = (): void => {
      clearInterval(timer);
      tasks.drainBegan.removeEventListener('abort', tell);
      endChanged();
    };
    const fail = (error: unknown): void => {
      stop();
      call.emit('error', toServiceError(error));
    };
    const timer = setInterval(tell, beatIntervalMs);
    tasks.drainBegan.addEventListener('abort', tell, { once: true });
    const endChanged = end.onChange(tell);
    try {
      security.admit(call, COORDINATOR);
    } catch (error) {
      fail(error);
      return;
    }
    call.on('data', (said: CoordinatorBeat) => {
      try {
        tasks.hear(Number(said.epoch), said.hands_over);
        end.heard(said.may_end);
        onLevels({ levelsMs: said.levels_ms, levelWeightRatio: said.level_weight_ratio });
        onQueryTimes(new Map(said.queries.map((one) => [queryId(one.query_id), queryTime(one)])));
      } catch (error) {
        fail(error);
      }
    });
    call.on('end', () => {
      stop();
      call.end();
    });
    call.on('cancelled', stop);
    call.on('error', stop);
    tell();
  };
}
