import { RecordBatchReader, type RecordBatch } from 'apache-arrow';
import { SkeinError } from '#shared/error.ts';
import type { Parameter } from '../../statement/parameters.ts';
import { framed } from './arrow-message.ts';
import { parameterAt } from './arrow-value.ts';
import type { PutMessage } from './put-stream.ts';

/** Rows of parameters that one call may bind. */
const ROWS_MAX = 1_000_000;

/** Reads the rows that a client binds to the parameters of a statement. @throws PAYLOAD_TOO_LARGE, INVALID_REQUEST, NOT_SUPPORTED */
export async function readBoundRows(
  messages: AsyncIterable<PutMessage>,
  bytesMax: number,
): Promise<readonly (readonly Parameter[])[]> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const { header, body } of messages) {
    if (header.length === 0) continue;
    bytes += header.length + body.length;
    if (bytes > bytesMax) {
      throw new SkeinError(
        'PAYLOAD_TOO_LARGE',
        `the bound rows have more than ${bytesMax} bytes (coordinator.flight_bound_bytes_max)`,
      );
    }
    parts.push(framed(header), body);
  }
  const batches = parts.length === 0 ? [] : batchesOf(Buffer.concat(parts));
  if (batches.reduce((rows, { numRows }) => rows + numRows, 0) > ROWS_MAX) {
    throw new SkeinError('PAYLOAD_TOO_LARGE', `a call binds at most ${ROWS_MAX} rows`);
  }
  return batches.flatMap(rowsOf);
}

function batchesOf(stream: Buffer): readonly RecordBatch[] {
  try {
    // A copy of its own: buffers in a stream begin at multiples of 8.
    return [...RecordBatchReader.from(new Uint8Array(stream))];
  } catch (cause) {
    throw new SkeinError('INVALID_REQUEST', 'the bound rows are no Arrow stream', { cause });
  }
}

function rowsOf(batch: RecordBatch): readonly (readonly Parameter[])[] {
  const columns = batch.data.children;
  return Array.from({ length: batch.numRows }, (_, row) => columns.map((column) => parameterAt(column, row)));
}
