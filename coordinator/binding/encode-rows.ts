import { setImmediate } from 'node:timers/promises';
import { Message } from 'apache-arrow/ipc/metadata/message';
import { SkeinError } from '#shared/error.ts';
import { encodeFlightData } from '#shared/flight/flight-data.ts';
import { madeBatch, madeSchema, type MadeColumn, type MadeRow } from './made-columns.ts';
import type { TableRows } from './table-rows.ts';

/** Most rows of a batch, and bytes of its values. Encoding a batch takes a few milliseconds; other work may run before the next. */
const BATCH_ROWS = 2_000;
const BATCH_BYTES = 256 * 2 ** 10;
const NUMBER_BYTES = 8;

/** Counts the bytes of rows. @throws STATEMENT_TOO_COMPLEX when the statement's budget is used up */
export type TakeBytes = (bytes: number) => void;

/**
 * Encodes rows as Arrow batches. `take` is called before a batch is kept, so that no more than the budget is held.
 * @throws what `take` and `pages` throw
 */
export async function encodeRows(
  { title, columns }: { readonly title: string; readonly columns: readonly MadeColumn[] },
  pages: AsyncIterable<readonly MadeRow[]>,
  take: TakeBytes,
): Promise<TableRows> {
  const messages = [encodeFlightData(Message.encode(Message.from(madeSchema(columns))), EMPTY)];
  let rowCount = 0;
  let bytes = 0;
  for await (const page of pages) {
    for (const [i, rows] of [...batchesOf(page)].entries()) {
      if (i > 0) await setImmediate();
      const { header, body } = madeBatch(columns, rows);
      const message = encodeFlightData(header, body);
      take(message.length);
      rowCount += rows.length;
      bytes += message.length;
      messages.push(message);
    }
  }
  return { title, columns, rowCount, bytes, messages };
}

function* batchesOf(rows: readonly MadeRow[]): Generator<readonly MadeRow[]> {
  let start = 0;
  let bytes = 0;
  for (const [i, row] of rows.entries()) {
    for (const value of row) bytes += typeof value === 'string' ? value.length : NUMBER_BYTES;
    if (i + 1 - start < BATCH_ROWS && bytes < BATCH_BYTES && i + 1 < rows.length) continue;
    yield rows.slice(start, i + 1);
    start = i + 1;
    bytes = 0;
  }
}

const EMPTY = Buffer.alloc(0);

/** Counts the bytes of all rows that one statement makes; `what` and the setting `key` stand in the error. */
export function rowsBudget(
  bytesMax: number,
  { what, key } = { what: "the rows that the statement's SHOW and DESCRIBE give", key: 'coordinator.rows_bytes_max' },
): TakeBytes {
  let left = bytesMax;
  return (bytes) => {
    left -= bytes;
    if (left >= 0) return;
    const message = `${what} take more than ${bytesMax} bytes (${key})`;
    throw new SkeinError('STATEMENT_TOO_COMPLEX', message);
  };
}
