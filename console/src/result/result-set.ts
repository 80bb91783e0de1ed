import { tableFromIPC } from '@uwdata/flechette';
import type { ArrowMessage } from './arrow-messages.ts';
import { printValue, type ArrowBatch } from './print-value.ts';

/** A column of a result. */
export type ResultColumn = {
  readonly name: string;
  /** SQL type, as the server names it (`skein.type`). */
  readonly type: string;
};

const EXACT = { useBigInt: true, useBigIntTimestamp: true, useDecimalInt: true } as const;
/** Told by whoever looks at all rows, which are not all there. */
export const STILL_COMING = 'The rows are still coming …';
const TYPE_KEY = 'skein.type';

type Part = { readonly start: number; readonly columns: readonly ArrowBatch[]; readonly length: number };

/** The rows of an answer, in the form in which they came: a row becomes text when it is looked at. */
export class ResultSet {
  columns: readonly ResultColumn[] = [];
  rowCount = 0;
  bytes = 0;
  readonly #messages: Uint8Array[] = [];
  readonly #parts: Part[] = [];
  #schema: Uint8Array | undefined;

  add({ bytes, isSchema }: ArrowMessage): void {
    this.#messages.push(bytes);
    this.bytes += bytes.length;
    if (isSchema) {
      this.#schema = bytes;
      this.columns = tableFromIPC([bytes]).schema.fields.map(({ name, metadata }) => ({
        name,
        type: metadata?.get(TYPE_KEY) ?? '',
      }));
      return;
    }
    if (this.#schema === undefined) throw new Error('the answer has rows before its columns');
    const table = tableFromIPC([this.#schema, bytes], EXACT);
    if (table.numRows === 0) return;
    const columns = table.children.map(({ data }) => data[0] as unknown as ArrowBatch);
    this.#parts.push({ start: this.rowCount, columns, length: table.numRows });
    this.rowCount += table.numRows;
  }

  /** Forgets all: the answer comes again. */
  clear(): void {
    this.rowCount = 0;
    this.bytes = 0;
    this.#messages.length = 0;
    this.#parts.length = 0;
  }

  /** Leaves out the rows behind so many. */
  cut(rows: number): void {
    this.rowCount = Math.min(this.rowCount, rows);
  }

  /** The text of a value; null for NULL. */
  text(row: number, column: number): string | null {
    const part = this.#partOf(row);
    const batch = part?.columns[column];
    return part === undefined || batch === undefined ? null : printValue(batch, row - part.start);
  }

  /** The value as the decoder has it, for comparing: numbers, bigints, texts; null for NULL. */
  value(row: number, column: number): unknown {
    const part = this.#partOf(row);
    return part?.columns[column]?.at(row - part.start) ?? null;
  }

  /** The stream as it came, with the mark of its end. */
  get stream(): Blob {
    const end = Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0);
    return new Blob([...this.#messages, end] as Uint8Array<ArrayBuffer>[], {
      type: 'application/vnd.apache.arrow.stream',
    });
  }

  /** The messages, for a worker, which decodes them itself. */
  get messages(): readonly Uint8Array[] {
    return this.#messages;
  }

  #partOf(row: number): Part | undefined {
    let [from, to] = [0, this.#parts.length - 1];
    while (from < to) {
      const middle = (from + to + 1) >> 1;
      if ((this.#parts[middle]?.start ?? 0) <= row) from = middle;
      else to = middle - 1;
    }
    const part = this.#parts[from];
    return part !== undefined && row >= part.start && row < part.start + part.length ? part : undefined;
  }
}
