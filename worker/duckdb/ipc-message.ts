import { Message } from 'apache-arrow/ipc/metadata/message';
import { SkeinError } from '#shared/error.ts';
import type { ArrowBatch } from './arrow-in.ts';
import { schemaFields, type ArrowField } from './arrow-schema.ts';
import { brokenMessage, checkMessage } from '#shared/flight/check-message.ts';
import type { Address } from './library.ts';

/** Maps the Arrow library's errors: it throws for numbers that JavaScript cannot hold exactly, and for unknown types. */
function reading<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof SkeinError) throw error;
    throw brokenMessage(error instanceof Error ? error.message : 'it cannot be read');
  }
}

/** Decodes the metadata of an untrusted message. @throws INTERNAL_ERROR when they violate the format */
export function readMessage(header: Uint8Array): Message {
  checkMessage(header);
  return reading(() => {
    const message = Message.decode(header);
    // `header()` makes the library decode the rest now; `readSchema` does so for a schema.
    if (!message.isSchema()) message.header();
    return message;
  });
}

/** Decodes the fields of a schema message. @throws INTERNAL_ERROR for another message, NOT_SUPPORTED for a type that workers never send */
export function readSchema(header: Uint8Array): ArrowField[] {
  // Copied for alignment, because the library makes an Int32Array of a union's type ids.
  const message = readMessage(new Uint8Array(header));
  if (!message.isSchema()) throw new SkeinError('INTERNAL_ERROR', 'a stream of batches begins with its schema');
  return reading(() => schemaFields(message.header()));
}

/**
 * Decodes the batch or dictionary whose metadata is `header` and whose body is at an address; `owner` keeps the body alive when it is
 * JavaScript memory. @throws INTERNAL_ERROR when a buffer lies outside of the body.
 */
export function readBatch(
  header: Uint8Array,
  body: { readonly address: Address; readonly bytes: number; readonly owner: unknown },
): ArrowBatch {
  const message = readMessage(header);
  const batch = message.isDictionaryBatch() ? message.header().data : message.isRecordBatch() ? message.header() : null;
  if (batch === null) throw new SkeinError('INTERNAL_ERROR', 'a batch is missing in a stream of batches');
  if (batch.compression !== null) throw brokenMessage('a batch is still compressed');
  const buffers = batch.buffers.map(({ offset, length }) => {
    const isInside = offset >= 0 && length >= 0 && offset + length <= body.bytes;
    if (!isInside) throw new SkeinError('INTERNAL_ERROR', 'a batch is cut short');
    return { address: body.address + BigInt(offset), bytes: length, owner: body.owner };
  });
  return { rows: batch.length, nodes: batch.nodes, buffers };
}
