import { SkeinError } from '#shared/error.ts';
import type { ColumnForms } from '../../../sink/formed-rows.ts';
import type { DoorSink, ResultBatch, ResultShape } from '../../../sink/result-sink.ts';
import { cellForm, type CellForm } from '../value/cells.ts';
import { inTurns } from '../value/cell-turns.ts';
import { copyLines, headerLine, lineForms, type LineForm } from './copy-lines.ts';
import type { CopyForm } from './copy-options.ts';
import { dataRows, type Cells } from '../value/data-rows.ts';
import { postgresColumn, type PostgresColumn } from '../message/postgres-type.ts';
import { copyData, copyDone, copyOut } from '../message/server-messages.ts';
import type { WireWriter } from '../message/wire-writer.ts';

/** Begins the binary form: signature, flags, length of an extension. */
const BINARY_HEAD = Buffer.concat([Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'), Buffer.alloc(8)]);
const BINARY_END = Buffer.from([0xff, 0xff]);
const COPY_DATA = 0x64;
/** Bytes of a message before its body. */
const MESSAGE_HEAD = 5;

/** The rows of COPY TO STDOUT, each in a message of its own as Postgres has it; the first of the binary form has its head, too. */
export class CopySink implements DoorSink {
  readonly encoding: ColumnForms;
  readonly #writer: WireWriter;
  readonly #options: CopyForm;
  #columns: readonly PostgresColumn[] = [];
  #forms: readonly CellForm[] = [];
  #lines: readonly LineForm[] = [];
  #hasBegun = false;
  #hasSent = false;
  #rows = 0;

  constructor(writer: WireWriter, options: CopyForm) {
    this.#writer = writer;
    this.#options = options;
    this.encoding = { isNative: () => this.#isBinary };
  }

  get committed(): boolean {
    return this.#hasSent;
  }

  get progress(): number {
    return this.#writer.takenBytes;
  }

  get tag(): string {
    return `COPY ${this.#rows}`;
  }

  planned(shape: ResultShape): void {
    if (shape.kind !== 'rows') throw new SkeinError('NOT_SUPPORTED', 'COPY of a query takes one that has rows');
    this.#columns = shape.columns.map(postgresColumn);
    this.#forms = this.#columns.map((column) => cellForm(column, this.#isBinary));
    this.#lines = this.#isBinary ? [] : lineForms(this.#columns, this.#options);
  }

  start(): void {
    this.#rows = 0;
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.#writer.push(copyOut(this.#isBinary, this.#columns.length));
    if (this.#options.header !== false) this.#writer.push(headerLine(this.#columns, this.#options));
  }

  batch(batch: ResultBatch): Promise<void> | undefined {
    if (batch.rows === 0) return undefined;
    return inTurns(batch, this.#forms, (cells, rows) => {
      this.#push(cells, rows);
      return this.#writer.flush();
    });
  }

  changed(): void {}

  finish(): void {}

  /** To be called when the statement has ended. */
  end(): void {
    if (!this.#hasBegun) this.start();
    if (this.#isBinary)
      this.#writer.push(copyData(this.#hasSent ? BINARY_END : Buffer.concat([BINARY_HEAD, BINARY_END])));
    this.#writer.push(copyDone());
  }

  #push(cells: readonly Cells[], rows: number): void {
    const messages = this.#isBinary
      ? dataRows(cells, rows, COPY_DATA)
      : copyLines(cells, rows, { forms: this.#lines, options: this.#options });
    if (this.#isBinary && !this.#hasSent) {
      const end = 1 + messages.readInt32BE(1);
      const first = messages.subarray(MESSAGE_HEAD, end);
      this.#writer.push(copyData(Buffer.concat([BINARY_HEAD, first])), messages.subarray(end));
    } else this.#writer.push(messages);
    this.#hasSent = true;
    this.#rows += rows;
  }

  get #isBinary(): boolean {
    return this.#options.format === 'binary';
  }
}
