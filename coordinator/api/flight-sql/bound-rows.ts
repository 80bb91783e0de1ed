import { Schema, type RecordBatch } from 'apache-arrow';
import { SkeinError } from '#shared/error.ts';
import { must } from '#shared/must.ts';
import { arrivedType } from '../../arrival/arrived-type.ts';
import { plainBatch } from '../../arrival/plain-batch.ts';
import { readBatches } from '../../arrival/read-batches.ts';
import type { Parameter } from '../../statement/parameters.ts';
import { parameterAt } from './arrow-value.ts';
import type { PutMessage } from './put-stream.ts';

/** Rows of parameters that one call may bind. */
const ROWS_MAX = 1_000_000;

/** The rows that a client has bound to the parameters of a statement, as they came. */
export type BoundRows = {
  readonly schema: Schema;
  readonly batches: readonly RecordBatch[];
  readonly count: number;
  readonly bytes: number;
};

/** Reads the rows that a client binds. @throws PAYLOAD_TOO_LARGE, INVALID_REQUEST, NOT_SUPPORTED */
export async function readBoundRows(messages: AsyncIterable<PutMessage>, bytesMax: number): Promise<BoundRows> {
  const limited = limitedTo(bytesMax, messages)[Symbol.asyncIterator]();
  const first = await limited.next();
  if (first.done === true) return { schema: new Schema([]), batches: [], count: 0, bytes: 0 };
  const { schema, batches } = await readBatches(following(first.value, limited));
  const read: RecordBatch[] = [];
  let count = 0;
  let bytes = 0;
  for await (const batch of batches) {
    count += batch.numRows;
    if (count > ROWS_MAX) throw new SkeinError('PAYLOAD_TOO_LARGE', `a call binds at most ${ROWS_MAX} rows`);
    requireSound(batch, bytesMax);
    bytes += batch.data.byteLength;
    read.push(batch);
  }
  return { schema, batches: read, count, bytes };
}

/**
 * Requires that a batch has what it says that it has, so that its values can be read one by one.
 * @throws INVALID_REQUEST, NOT_SUPPORTED, PAYLOAD_TOO_LARGE, NUMERIC_OVERFLOW
 */
function requireSound(batch: RecordBatch, bytesMax: number): void {
  const { schema, numRows: count } = batch;
  for (const field of schema.fields) arrivedType(field, 'nanoseconds');
  if (count > 0 && plainBatch({ batch, from: 0, count, bytesMax, precise: 'nanoseconds' }) === undefined)
    throw tooLarge(bytesMax);
}

/** The values of each row, one after the other: as values they take many times the bytes that they came in. @throws NOT_SUPPORTED, PAYLOAD_TOO_LARGE */
export function* parametersOf({ schema: { fields }, batches }: BoundRows): Generator<readonly Parameter[], void> {
  for (const { numRows, data } of batches) {
    for (let row = 0; row < numRows; row += 1) {
      yield fields.map((field, i) => parameterAt(field, must(data.children[i], 'each field has a column'), row));
    }
  }
}

const tooLarge = (bytesMax: number): SkeinError =>
  new SkeinError(
    'PAYLOAD_TOO_LARGE',
    `the bound rows have more than ${bytesMax} bytes (coordinator.flight_bound_bytes_max)`,
  );

async function* limitedTo(bytesMax: number, messages: AsyncIterable<PutMessage>): AsyncGenerator<PutMessage, void> {
  let bytes = 0;
  for await (const message of messages) {
    if (message.header.length === 0) continue;
    bytes += message.header.length + message.body.length;
    if (bytes > bytesMax) throw tooLarge(bytesMax);
    yield message;
  }
}

async function* following(
  first: PutMessage,
  rest: AsyncIterator<PutMessage, unknown>,
): AsyncGenerator<PutMessage, void> {
  for (let message = first; ;) {
    yield message;
    const next = await rest.next();
    if (next.done === true) return;
    message = next.value;
  }
}
