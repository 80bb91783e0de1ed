import { Message } from 'apache-arrow/ipc/metadata/message';
import { SkeinError } from '#shared/error.ts';
import type { ArrowBatch } from './arrow-in.ts';
import { schemaFields, type ArrowField } from './arrow-schema.ts';
import { brokenMessage, checkMessage } from './check-message.ts';
import type { Address } from './library.ts';

/** The library throws for numbers that JavaScript's cannot hold, and for types that it does not know. */
function reading<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof SkeinError) throw error;
    throw brokenMessage(error instanceof Error ? error.message : 'it cannot be read');
  }
}

/** The metadata of a message from wherever it came. @throws INTERNAL_ERROR when they are not what the format says */
export function readMessage(header: Uint8Array): Message {
  checkMessage(header);
  return reading(() => {
    const message = Message.decode(header);
    // The library reads the rest when it is asked for it: of a schema that is `readSchema`.
    if (!message.isSchema()) message.header();
    return message;
  });
}

/** The fields that a schema message tells. @throws INTERNAL_ERROR when it is another one, NOT_SUPPORTED for a type that we do not send */
export function readSchema(header: Uint8Array): ArrowField[] {
  // At an address of its own: the library makes an Int32Array of a union's type ids.
  const message = readMessage(new Uint8Array(header));
  if (!message.isSchema()) throw new SkeinError('INTERNAL_ERROR', 'a stream of batches begins with its schema');
  return reading(() => schemaFields(message.header()));
}

/**
 * The batch, or the dictionary, whose metadata is `header` and whose body lies at an address; `owner` keeps the body, when that is
 * JavaScript's. @throws INTERNAL_ERROR when a buffer lies outside of the body.
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
