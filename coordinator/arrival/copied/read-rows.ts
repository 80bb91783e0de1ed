import { sizedWork } from '#shared/thread/sized-work.ts';
import { binaryHead, takeBinaryRow } from './binary-rows.ts';
import { ColumnBuilder } from './column-builder.ts';
import { RowError, type ReadRows, type RowsInput } from './row-format.ts';
import { takeCsvRow, takeTextRow, type TakenRow } from './text-rows.ts';

/** Reads as many whole rows as there are. It never throws for what a client sends: the fault is a part of the answer. */
export function readCopiedRows(input: RowsInput): ReadRows {
  const reader = new Rows(input);
  const fault = reader.read();
  return { ...reader.made, fault };
}

class Rows {
  readonly #input: RowsInput;
  readonly #bytes: Buffer;
  readonly #builders: readonly ColumnBuilder[];
  readonly #lines: number[] = [];
  #at = 0;
  #line: number;
  #isEnd = false;

  constructor(input: RowsInput) {
    const { bytes } = input;
    this.#input = input;
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#builders = input.columns.map((column) => new ColumnBuilder(column));
    this.#line = input.line;
  }

  get made(): Omit<ReadRows, 'fault'> {
    return {
      rows: this.#lines.length,
      consumed: this.#at,
      line: this.#line,
      isEnd: this.#isEnd,
      lines: Int32Array.from(this.#lines),
      columns: this.#builders.map((builder) => builder.made),
    };
  }

  read(): ReadRows['fault'] {
    try {
      if (!this.#begin()) return null;
      while (this.#at < this.#bytes.length && !this.#isEnd) {
        const row = this.#take();
        if (row === null) break;
        if (row.isEnd) this.#isEnd = true;
        else this.#add(row);
        this.#at = row.next;
        this.#line += row.lines;
      }
      const { isLast, format } = this.#input;
      // Some clients leave the trailer out.
      const isCut = isLast && format.format === 'binary' && this.#at < this.#bytes.length && !this.#isEnd;
      if (isCut) throw new RowError('unexpected EOF in COPY data');
      return this.#unreadable();
    } catch (error) {
      if (!(error instanceof RowError)) throw error;
      const { sqlState, message, column, text } = error;
      return { sqlState, message, column, text, line: this.#line };
    }
  }

  /** Takes what stands before the first row; false when it is not whole. */
  #begin(): boolean {
    const { isFirst, isLast, format, columns } = this.#input;
    if (!isFirst) return true;
    if (format.format === 'binary') {
      const end = binaryHead(this.#bytes);
      if (end === null && isLast) throw new RowError('COPY file signature not recognized');
      this.#at = end ?? 0;
      return end !== null;
    }
    if (format.header === false || this.#bytes.length === 0) return true;
    const row = this.#take();
    if (row === null) return false;
    if (format.header === 'match')
      requireNames(
        row,
        columns.map(({ name }) => name),
      );
    this.#at = row.next;
    this.#line += row.lines;
    return true;
  }

  #take(): TakenRow | null {
    const { format, columns } = this.#input;
    if (format.format === 'binary') return takeBinaryRow(this.#bytes, this.#at, columns.length);
    return (format.format === 'csv' ? takeCsvRow : takeTextRow)(this.#bytes, this.#at, this.#input);
  }

  #add({ fields, count, next }: TakenRow): void {
    const { columns, format } = this.#input;
    const isBinary = format.format === 'binary';
    const text = (): string => this.#bytes.toString('utf8', this.#at, next).replace(/\r?\n$/, '');
    if (fields.length < columns.length) {
      throw new RowError(`missing data for column "${columns[fields.length]?.name ?? ''}"`, { text: text() });
    }
    if (count > columns.length) throw new RowError('extra data after last expected column', { text: text() });
    this.#builders.forEach((builder, i) => builder.add(fields[i] ?? null, isBinary));
    this.#lines.push(this.#line);
  }

  #unreadable(): ReadRows['fault'] {
    for (const [i, builder] of this.#builders.entries()) {
      const row = builder.firstUnreadable();
      if (row === undefined) continue;
      return {
        sqlState: '22021',
        message: 'invalid byte sequence for encoding "UTF8"',
        line: this.#lines[row] ?? this.#line,
        column: this.#input.columns[i]?.name ?? null,
        text: null,
      };
    }
    return null;
  }
}

/** @throws RowError */
function requireNames({ fields, count }: TakenRow, names: readonly string[]): void {
  if (count !== names.length) {
    throw new RowError(`wrong number of fields in header line: got ${count}, expected ${names.length}`);
  }
  fields.forEach((field, i) => {
    const got = field?.toString() ?? '';
    if (got === names[i]) return;
    throw new RowError(
      `column name mismatch in header line field ${i + 1}: got "${got}", expected "${names[i] ?? ''}"`,
    );
  });
}

const MODULE = new URL('./read-rows-in-thread.ts', import.meta.url);
export const READ_ROWS = sizedWork(readCopiedRows, MODULE, 'readManyRows');
