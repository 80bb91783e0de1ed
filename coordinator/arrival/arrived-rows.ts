import { setImmediate } from 'node:timers/promises';
import { Schema, type RecordBatch } from 'apache-arrow';
import { Message } from 'apache-arrow/ipc/metadata/message';
import type { ByteBudget } from '#shared/byte-budget.ts';
import { SkeinError } from '#shared/error.ts';
import { encodeFlightData, encodeFlightHead } from '#shared/flight/flight-data.ts';
import type { RowsPart, TableRows } from '../binding/table-rows.ts';
import type { SqlField } from '../plan/sql-type.ts';
import { SpoolFile } from '../sink/spool-file.ts';
import { arrivedType, plainField, type Precise } from './arrived-type.ts';
import { plainBatch } from './plain-batch.ts';

export type ArrivalPlace = {
  readonly folder: string;
  /** Bytes on disk, of all rows that have come in. */
  readonly budget: ByteBudget;
  /** The tenant whose share of the budget the rows take. */
  readonly owner: string;
};

/** A part is as long as a task that carries it may be without much memory. */
const PART_BYTES = 8 * 2 ** 20;
/** Rows of a batch: a multiple of 8, and few enough to be looked at within a few milliseconds. */
const BATCH_ROWS = 2 ** 17;
/** Longest row: a task carries a part whole. */
const ROW_BYTES_MAX = 32 * 2 ** 20;
const NO_BODY = Buffer.alloc(0);
const COLUMNS_MAX = 10_000;

type Place = { readonly at: number; readonly bytes: number };
type Part = { readonly messages: Place[]; rowCount: number; bytes: number };

/**
 * The rows that a client sends with a statement. They lie on disk in parts until the statement has ended, so that they take little memory,
 * however many they are:
 * ```
 * batches of the client ─▶ plain batches ─▶ file ─ a part at a time ─▶ tasks on workers
 * ```
 * The file has no name: it goes with the process.
 */
export class ArrivedRows implements Disposable {
  readonly #place: ArrivalPlace;
  readonly #precise: Precise;
  readonly #file: SpoolFile;
  readonly #schemaMessage: Buffer;
  readonly #parts: Part[] = [];
  /** The columns as SQL names their types; their names are `c0`, `c1`, .... */
  readonly columns: readonly SqlField[];
  #rowCount = 0;
  #bytes = 0;

  /** @throws NOT_SUPPORTED for a column of a type that is not taken, INVALID_REQUEST for rows without columns */
  constructor({ fields }: Schema, place: ArrivalPlace, precise: Precise) {
    if (fields.length === 0 || fields.length > COLUMNS_MAX) {
      throw new SkeinError('INVALID_REQUEST', `the rows have 1 to ${COLUMNS_MAX} columns`);
    }
    this.#place = place;
    this.#precise = precise;
    this.#file = new SpoolFile(place.folder);
    const types = fields.map((field) => arrivedType(field, precise));
    this.columns = types.map(({ sql }, i) => ({ name: `c${i}`, type: sql }));
    const schema = new Schema(types.map((type, i) => plainField(`c${i}`, type)));
    this.#schemaMessage = encodeFlightData(Message.encode(Message.from(schema)), NO_BODY);
  }

  get rowCount(): number {
    return this.#rowCount;
  }

  /** @throws PAYLOAD_TOO_LARGE when the budget is used up, or a row is too long; INVALID_REQUEST, NUMERIC_OVERFLOW, STORAGE_FULL, STORAGE_ERROR */
  async add(batch: RecordBatch): Promise<void> {
    let size = BATCH_ROWS;
    for (let from = 0; from < batch.numRows;) {
      if (from > 0) await setImmediate();
      const count = Math.min(size, batch.numRows - from);
      const bytesMax = count > 1 ? PART_BYTES : ROW_BYTES_MAX;
      const plain = plainBatch({ batch, from, count, bytesMax, precise: this.#precise });
      if (plain !== undefined) {
        const head = encodeFlightHead(plain.header, plain.bodyBytes);
        await this.#append({ pieces: [head, ...plain.body], bytes: head.length + plain.bodyBytes }, count);
        from += count;
        size = Math.min(2 * size, BATCH_ROWS);
      } else if (count > 1) {
        size = Math.ceil(count / 2);
      } else {
        throw new SkeinError('PAYLOAD_TOO_LARGE', `a row that a client sends has more than ${ROW_BYTES_MAX} bytes`);
      }
    }
  }

  async #append(
    { pieces, bytes }: { readonly pieces: readonly Uint8Array[]; readonly bytes: number },
    rows: number,
  ): Promise<void> {
    const { budget, owner } = this.#place;
    if (!budget.take(owner, bytes)) {
      throw new SkeinError(
        'PAYLOAD_TOO_LARGE',
        'the rows that clients send take more disk than coordinator.arrived_rows_bytes, or your share of it',
      );
    }
    this.#bytes += bytes;
    const at = this.#file.lengthBytes;
    await this.#file.append(pieces);
    const last = this.#parts.at(-1);
    const part =
      last !== undefined && last.bytes + bytes <= PART_BYTES ? last : { messages: [], rowCount: 0, bytes: 0 };
    if (part !== last) this.#parts.push(part);
    part.messages.push({ at, bytes });
    part.rowCount += rows;
    part.bytes += bytes;
    this.#rowCount += rows;
  }

  /** The rows as a table of a statement, which has ended before they are disposed of. */
  table(title: string): TableRows {
    const parts = this.#parts.map((part): RowsPart => ({
      rowCount: part.rowCount,
      bytes: part.bytes,
      read: () => this.#read(part),
    }));
    return { title, columns: this.columns, rowCount: this.#rowCount, bytes: this.#bytes, messages: [], parts };
  }

  async #read({ messages }: Part): Promise<readonly Uint8Array[]> {
    const read: Uint8Array[] = [this.#schemaMessage];
    for (const { at, bytes } of messages) read.push(await this.#file.readAt(at, bytes));
    return read;
  }

  [Symbol.dispose](): void {
    this.#place.budget.give(this.#place.owner, this.#bytes);
    this.#bytes = 0;
    this.#file.close();
  }
}
