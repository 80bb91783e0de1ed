import type { ServerWritableStream } from '@grpc/grpc-js';
import type { Ticket } from '#proto/generated/arrow/flight/protocol/Ticket.ts';
import { SendWindow } from '#shared/flight/send-window.ts';
import { must } from '#shared/must.ts';
import type { Schema } from 'apache-arrow';
import type { ResultBatch } from '../../sink/result-sink.ts';
import { BatchData, schemaData } from './arrow-message.ts';

/** A call of DoGet, which writes messages that are encoded already. */
export type DoGetCall = ServerWritableStream<Ticket, Buffer | BatchData>;

/** The rows of a ticket. */
export type FlightRows = { readonly schema: Schema; readonly batches: AsyncIterable<ResultBatch> };

/** Sends a stream: its schema at once, then its batches as they come, as fast as the client takes them. */
export async function sendRows(call: DoGetCall, { schema, batches }: FlightRows): Promise<void> {
  const window = new SendWindow(() => call.cancelled);
  call.on('cancelled', () => window.wake());
  call.write(schemaData(schema));
  for await (const { header, body } of batches) {
    if (call.cancelled) return;
    const message = new BatchData(must(header, 'a record batch has a header'), body);
    window.open(message.length);
    call.write(message, () => window.close(message.length));
    await window.room();
  }
  await window.sent();
}
