import { networkInterfaces } from 'node:os';
import type { handleServerStreamingCall, ServiceDefinition } from '@grpc/grpc-js';
import type { Ticket } from '#proto/generated/arrow/flight/protocol/Ticket.ts';
import type { StreamEnd } from '#shared/task/task.ts';
import { SkeinError } from '#shared/error.ts';
import type { ChannelSecurity } from '#shared/grpc/channel-security.ts';
import { toServiceError } from '#shared/grpc/internal-auth.ts';
import { loadService } from '#shared/grpc/load-proto.ts';
import { verifyTicket } from '#shared/ticket.ts';
import type { Clock } from '#shared/clock.ts';
import type { TaskSpool } from '../spool/spool.ts';
import { encodeAppMetadata } from '#shared/flight/flight-data.ts';
import { LentMessage } from '../batch/arrow-message.ts';
import { parseTicket } from './flight-ticket.ts';
import { sendPartition } from './send-partition.ts';
import { SendWindow } from '#shared/flight/send-window.ts';
import type { FlightCall } from './flight-call.ts';
import { READER_LEFT, type TaskRegistry } from '../task/task-registry.ts';

/** `FlightService` whose DoGet messages are encoded already: no body passes through a protobuf library. */
export function flightDefinition(): ServiceDefinition {
  const { definition } = loadService('flight.proto', 'arrow.flight.protocol.FlightService');
  return {
    ...definition,
    DoGet: { ...definition.DoGet, responseSerialize: asBuffer, responseDeserialize: (bytes) => bytes },
  };
}

/** Passes a lent message as a buffer: it implements the part of `Buffer` that gRPC uses. */
const asBuffer = (message: Uint8Array | LentMessage): Buffer =>
  message instanceof LentMessage
    ? (message as unknown as Buffer)
    : Buffer.from(message.buffer, message.byteOffset, message.byteLength);

/**
 * Handles `DoGet`, which reads the output that a task streams, or a partition of a finished one. Sends the schema, record batches, then
 * a message whose `app_metadata` is the JSON of the task's report, or of its failure. Errors are the gRPC status. When the reader of a
 * streamed output goes away, the task ends.
 */
export function doGetHandler(options: {
  readonly tasks: TaskRegistry;
  readonly security: ChannelSecurity;
  readonly clock: Clock;
  /** Compression of partitions that are sent to another host. */
  readonly compression: 'none' | 'lz4';
}): handleServerStreamingCall<Ticket, Uint8Array | LentMessage> {
  const { tasks, security, clock, compression } = options;
  const serve = async (call: FlightCall): Promise<void> => {
    security.admit(call, ['coordinator', 'worker']);
    const asked = parseTicket(call.request.ticket);
    const ticket = verifyTicket(asked.text, security.keyring, clock.nowMs());
    if (asked.kind === 'partition') {
      const compress = compression === 'lz4' && !isOfThisHost(call.getPeer());
      await sendPartition(call, await tasks.openPartition(ticket), { range: asked.range, compress });
      return;
    }
    const spool = tasks.attach(ticket);
    let complete = false;
    const lost = (): void => {
      // gRPC emits 'cancelled' after every call, also after a successful one.
      if (!complete) void tasks.cancel(ticket.taskId, READER_LEFT);
    };
    if (call.cancelled) lost();
    call.on('cancelled', lost);
    try {
      await send(call, spool);
    } finally {
      complete = !call.cancelled;
      if (complete) tasks.finish(ticket.taskId);
    }
  };
  return (call) => {
    serve(call).then(
      () => call.end(),
      (error: unknown) => call.emit('error', toServiceError(error)),
    );
  };
}

/** Whether a peer (`host:port`) has an address of this machine. */
function isOfThisHost(peer: string): boolean {
  const host = peer.slice(0, peer.lastIndexOf(':')).replaceAll(/^\[|\]$|^::ffff:/g, '');
  return Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === host));
}

const writeEnd = (call: FlightCall, end: StreamEnd): void =>
  void call.write(encodeAppMetadata(Buffer.from(JSON.stringify(end))));

async function send(call: FlightCall, spool: TaskSpool): Promise<void> {
  const window = new SendWindow(() => call.cancelled);
  call.on('cancelled', () => window.wake());
  for (;;) {
    const item = await spool.next();
    if (call.cancelled) return;
    if (item.kind === 'failed') {
      writeEnd(call, { failure: item.error });
      throw SkeinError.fromData(item.error);
    }
    if (item.kind === 'finished') {
      writeEnd(call, item.report);
      return;
    }
    const { length } = item.data;
    window.open(length);
    call.write(item.data, () => {
      window.close(length);
      spool.taken(length);
    });
    await window.room();
  }
}
