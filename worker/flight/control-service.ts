import type {
  handleBidiStreamingCall,
  handleUnaryCall,
  ServerUnaryCall,
  UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { decodeTaskHead } from '#proto/task-codec.ts';
import type { Clock } from '#shared/clock.ts';
import { ERRORS, SkeinError, type ErrorCode } from '#shared/error.ts';
import type { ChannelSecurity } from '#shared/grpc/channel-security.ts';
import type { ClusterRole } from '#shared/grpc/cluster-role.ts';
import { encodeError, toServiceError } from '#shared/grpc/internal-auth.ts';
import { queryId, taskId, type QueryId, type WorkerId } from '#shared/id.ts';
import { verifyTicket, type Ticket } from '#shared/ticket.ts';
import type { HungTask, OrderedEnd } from '../ordered-end.ts';
import type { TaskRegistry } from '../task/task-registry.ts';

/** The state that a worker reports with every heartbeat. 64-bit numbers are decimal text, as proto-loader takes them. */
export type WorkerBeat = {
  readonly worker_id: WorkerId;
  readonly name: string;
  readonly skein_release: string;
  readonly duckdb_version: string;
  readonly cores: number;
  readonly memory_limit_bytes: string;
  readonly running_tasks: number;
  readonly spool_bytes: string;
  readonly draining: boolean;
  readonly pid: string;
  readonly machine_id: string;
  readonly machine_cores: number;
  readonly query_ids: readonly QueryId[];
  /** The task for which the worker's process ends now; null while it lives on. */
  readonly hung: HungTask | null;
};
type CoordinatorBeat = { readonly coordinator_id: string; readonly epoch: string };

export type ControlOptions = {
  readonly tasks: TaskRegistry;
  readonly end: OrderedEnd;
  readonly security: ChannelSecurity;
  readonly clock: Clock;
  readonly beat: () => WorkerBeat;
  readonly beatIntervalMs: number;
};

/** The handlers of `skein.worker.v1.Worker`. */
export function controlHandlers(options: ControlOptions): UntypedServiceImplementation {
  const { tasks, security, clock } = options;
  const verify = (ticket: string): Ticket => verifyTicket(ticket, security.keyring, clock.nowMs());
  const ofCoordinator = <Request>(handle: Handle<Request>) => unary(security, COORDINATOR, handle);
  return {
    Attach: attachHandler(options),
    RunTask: ofCoordinator<{ spec: Uint8Array; ticket: string }>(async ({ spec, ticket }, signal) => {
      const verified = verify(ticket);
      const end = await tasks.run(signal, decodeTaskHead(spec), verified);
      if (end.kind === 'lost') return { lost: { address: end.lost.address, task_id: end.lost.taskId } };
      if (end.kind === 'failed') return { failure: encodeError(SkeinError.fromData(end.error)) };
      return { report: Buffer.from(JSON.stringify(end.report)) };
    }),
    EndQuery: ofCoordinator<{ query_id: string }>(async (request) => {
      await tasks.endQuery(queryId(request.query_id));
      return {};
    }),
    CancelTask: ofCoordinator<{ task_id: string; code: string; reason: string }>(async (request) => ({
      found: await tasks.cancel(taskId(request.task_id), new SkeinError(errorCode(request.code), request.reason)),
    })),
    Drain: unary<object>(security, ['coordinator', 'operator'], async () => {
      await tasks.drain();
      return {};
    }),
  };
}

const errorCode = (code: string): ErrorCode => (Object.hasOwn(ERRORS, code) ? (code as ErrorCode) : 'QUERY_CANCELLED');

/** Handles a unary call; `signal` aborts when the caller has gone. */
type Handle<Request> = (request: Request, signal: AbortSignal) => object | Promise<object>;

const COORDINATOR: readonly ClusterRole[] = ['coordinator'];

function unary<Request>(
  security: ChannelSecurity,
  callers: readonly ClusterRole[],
  handle: Handle<Request>,
): handleUnaryCall<Request, object> {
  const answer = async (
    call: ServerUnaryCall<Request, object>,
    callback: Parameters<handleUnaryCall<Request, object>>[1],
  ): Promise<void> => {
    let reply: object;
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

/**
 * Exchanges heartbeats in both directions. The worker sends its first at once, so that the coordinator learns its identity, and sends one
 * at once when it begins to drain or when its process ends.
 */
function attachHandler(options: ControlOptions): handleBidiStreamingCall<CoordinatorBeat, WorkerBeat> {
  const { tasks, end, security, beat, beatIntervalMs } = options;
  return (call) => {
    const tell = (): void => void call.write(beat());
    const stop = (): void => {
      clearInterval(timer);
      tasks.drainBegan.removeEventListener('abort', tell);
      end.began.removeEventListener('abort', tell);
    };
    const fail = (error: unknown): void => {
      stop();
      call.emit('error', toServiceError(error));
    };
    const timer = setInterval(tell, beatIntervalMs);
    tasks.drainBegan.addEventListener('abort', tell, { once: true });
    end.began.addEventListener('abort', tell, { once: true });
    try {
      security.admit(call, COORDINATOR);
    } catch (error) {
      fail(error);
      return;
    }
    call.on('data', ({ epoch }: CoordinatorBeat) => {
      try {
        tasks.hear(Number(epoch));
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
