import type { ServerWritableStream } from '@grpc/grpc-js';
import type { Ticket } from '#proto/generated/arrow/flight/protocol/Ticket.ts';
import type { LentMessage } from '../batch/arrow-message.ts';

/** A call of DoGet, which writes messages that are encoded already. */
export type FlightCall = ServerWritableStream<Ticket, Uint8Array | LentMessage>;
