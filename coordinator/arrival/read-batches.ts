import { RecordBatchReader, type RecordBatch, type Schema } from 'apache-arrow';
import { SkeinError } from '#shared/error.ts';
import { checkMessage, unknownColumn } from '#shared/flight/check-message.ts';
import type { FlightData } from '#shared/flight/flight-data.ts';

/** Record batches that a client sends, as the Arrow library has them. */
export type IncomingBatches = { readonly schema: Schema; readonly batches: AsyncIterable<RecordBatch> };

/**
 * Reads a client's messages: the schema at once, batches as they come.
 * @throws INVALID_REQUEST for what is no Arrow stream, NOT_SUPPORTED with the column for a type that the library does not know
 */
export async function readBatches(messages: AsyncIterable<FlightData<Buffer>>): Promise<IncomingBatches> {
  const reader = await asInvalid(async () => (await RecordBatchReader.from(streamOf(messages))).open());
  if (reader.schema === null || reader.schema === undefined) throw notArrow();
  return { schema: reader.schema, batches: batchesOf(reader) };
}

async function* batchesOf(reader: AsyncIterable<RecordBatch>): AsyncGenerator<RecordBatch, void> {
  const batches = reader[Symbol.asyncIterator]();
  for (;;) {
    const next = await asInvalid(() => batches.next());
    if (next.done === true) return;
    yield next.value;
  }
}

/** The messages as an IPC stream: each with its prefix, its body at a multiple of 8. */
async function* streamOf(messages: AsyncIterable<FlightData<Buffer>>): AsyncGenerator<Uint8Array, void> {
  for await (const { header, body } of messages) {
    if (header.length === 0) continue;
    checkMessage(header);
    const column = unknownColumn(header);
    if (column !== undefined) {
      throw new SkeinError('NOT_SUPPORTED', `column ${column}: rows of its Arrow type are not taken`);
    }
    yield encapsulated(header, body);
  }
}

/** Marks a message of an Arrow IPC stream. */
const CONTINUATION = 0xff_ff_ff_ff;
const PREFIX_BYTES = 8;

function encapsulated(header: Buffer, body: Buffer): Buffer {
  const length = Math.ceil(header.length / PREFIX_BYTES) * PREFIX_BYTES;
  const bytes = Buffer.allocUnsafeSlow(PREFIX_BYTES + length + body.length);
  bytes.writeUInt32LE(CONTINUATION);
  bytes.writeUInt32LE(length, 4);
  bytes.fill(0, PREFIX_BYTES + header.length, PREFIX_BYTES + length);
  header.copy(bytes, PREFIX_BYTES);
  body.copy(bytes, PREFIX_BYTES + length);
  return bytes;
}

const notArrow = (cause?: unknown): SkeinError =>
  new SkeinError('INVALID_REQUEST', 'the rows are no Arrow stream', { cause });

async function asInvalid<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof SkeinError && error.code !== 'INTERNAL_ERROR') throw error;
    throw notArrow(error);
  }
}
