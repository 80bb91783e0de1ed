import type { handleServerStreamingCall, ServerWritableStream, ServiceDefinition } from '@grpc/grpc-js';
import { decodeTaskSpec } from '#proto/task-codec.ts';
import { SkeinError } from '#shared/error.ts';
import { requireSecret, toServiceError } from '#shared/grpc/internal-auth.ts';
import { loadService } from '#shared/grpc/load-proto.ts';
import { verifyTicket } from '#shared/ticket.ts';
import type { Clock } from '#shared/clock.ts';
import type { TaskSpool } from '../spool/spool.ts';
import { encodeAppMetadata } from './flight-data.ts';
import type { TaskRegistry } from './task-registry.ts';

/** Bytes of messages that are given to gRPC and not yet on their way: the transport is kept busy, and memory small. */
const WINDOW_BYTES = 4 * 2 ** 20;

type TicketMessage = { readonly ticket: Uint8Array };
type Call = ServerWritableStream<TicketMessage, Uint8Array>;

/** `FlightService` with messages that are bytes already: nothing of a body passes through a protobuf library. */
export function flightDefinition(): ServiceDefinition {
  const { definition } = loadService('flight.proto', 'arrow.flight.protocol.FlightService');
  const doGet = definition['DoGet'];
  if (doGet === undefined) throw new Error('flight.proto has no DoGet');
  return { ...definition, DoGet: { ...doGet, responseSerialize: asBuffer, responseDeserialize: (bytes) => bytes } };
}

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/**
 * `DoGet`, which may bring its task with it: schema, record batches, then a message whose `app_metadata` is the JSON of the task's
 * report. Errors are the gRPC status. A reader that goes away ends the task.
 */
export function doGetHandler(options: {
  readonly tasks: TaskRegistry;
  readonly secret: string;
  readonly clock: Clock;
}): handleServerStreamingCall<TicketMessage, Uint8Array> {
  const { tasks, secret, clock } = options;
  const serve = async (call: Call): Promise<void> => {
    requireSecret(call.metadata, secret);
    const { text, spec } = splitTicket(Buffer.from(call.request.ticket));
    const ticket = verifyTicket(text, secret, clock.nowMs());
    if (spec !== undefined) tasks.start(decodeTaskSpec(spec), ticket);
    const spool = await tasks.open(ticket);
    let complete = false;
    const lost = (): void => {
      // gRPC says 'cancelled' after every call, also after one that ended well.
      if (!complete) void tasks.cancel(ticket.taskId, new SkeinError('QUERY_CANCELLED', 'the reader went away'));
    };
    if (call.cancelled) lost();
    call.on('cancelled', lost);
    try {
      await send(call, spool);
    } finally {
      complete = !call.cancelled;
      if (complete) void tasks.finish(ticket.taskId);
    }
  };
  return (call) => {
    serve(call).then(
      () => call.end(),
      (error: unknown) => call.emit('error', toServiceError(error)),
    );
  };
}

/** `<signed ticket>`, or `<signed ticket>\n<TaskSpec>` when the call starts its task as well. */
function splitTicket(bytes: Buffer): { readonly text: string; readonly spec: string | undefined } {
  const end = bytes.indexOf(NEWLINE);
  if (end < 0) return { text: bytes.toString(), spec: undefined };
  return { text: bytes.toString('utf8', 0, end), spec: bytes.toString('utf8', end + 1) };
}

const NEWLINE = 0x0a;

async function send(call: Call, spool: TaskSpool): Promise<void> {
  const window = new SendWindow();
  call.on('cancelled', () => window.wake());
  for (;;) {
    const item = await spool.next();
    if (call.cancelled) return;
    if (item.kind === 'failed') throw SkeinError.fromData(item.error);
    if (item.kind === 'finished') {
      call.write(encodeAppMetadata(Buffer.from(JSON.stringify(item.report))));
      return;
    }
    const { length } = item.data;
    window.open(length);
    call.write(item.data, () => {
      window.close(length);
      spool.taken(length);
    });
    while (window.full && !call.cancelled) await window.change();
  }
}

/** Counts what gRPC has been given and has not sent. */
class SendWindow {
  #bytes = 0;
  #changed: (() => void) | undefined;

  get full(): boolean {
    return this.#bytes >= WINDOW_BYTES;
  }

  open(bytes: number): void {
    this.#bytes += bytes;
  }

  close(bytes: number): void {
    this.#bytes -= bytes;
    this.wake();
  }

  wake(): void {
    this.#changed?.();
  }

  change(): Promise<void> {
    return new Promise((resolve) => {
      this.#changed = resolve;
    });
  }
}
