import type { ColumnForms } from '../../../sink/formed-rows.ts';
import type { DoorSink, ResultBatch, ResultShape, ResultSummary } from '../../../sink/result-sink.ts';
import { cellForm, type CellForm } from '../value/cells.ts';
import { inTurns } from '../value/cell-turns.ts';
import { dataRows } from '../value/data-rows.ts';
import { postgresColumn, type PostgresColumn } from '../message/postgres-type.ts';
import { rowDescription, warning } from '../message/server-messages.ts';
import type { WireWriter } from '../message/wire-writer.ts';

/** Statements whose tag has the number of their rows. */
const COUNTED: ReadonlySet<string> = new Set([
  'SELECT',
  'INSERT',
  'UPDATE',
  'DELETE',
  'MERGE',
  'COPY',
  'FETCH',
  'MOVE',
]);

type Options = {
  readonly writer: WireWriter;
  /** Whether the rows come behind their description, as in the simple protocol. */
  readonly describes: boolean;
  /** The form of each column; one for all; none = text. */
  readonly formats: readonly number[];
};

/** The result of a statement as rows of the protocol, each as it comes. An error may follow rows, so nothing is held back. */
export class RowsSink implements DoorSink {
  readonly encoding: ColumnForms;
  readonly #options: Options;
  #shape: ResultShape | undefined;
  #columns: readonly PostgresColumn[] = [];
  #forms: readonly CellForm[] = [];
  #isDescribed = false;
  #hasSent = false;
  #rows = 0;
  #changed: number | undefined;

  constructor(options: Options) {
    this.#options = options;
    const { formats } = options;
    this.encoding = { isNative: (i) => (formats.length === 1 ? formats[0] : formats[i]) === 1 };
  }

  get committed(): boolean {
    return this.#hasSent;
  }

  get progress(): number {
    return this.#options.writer.takenBytes;
  }

  /** The tag of the statement, which has ended. */
  get tag(): string {
    const tag = this.#shape?.tag ?? '';
    if (this.#shape?.kind === 'nothing' || !COUNTED.has(tag)) return tag;
    return `${tag === 'INSERT' ? 'INSERT 0' : tag} ${this.#changed ?? this.#rows}`;
  }

  planned(shape: ResultShape): void {
    this.#shape = shape;
    if (shape.kind === 'nothing' && shape.warning !== undefined) {
      this.#options.writer.push(warning(shape.warning.sqlState, shape.warning.message));
    }
    if (shape.kind !== 'rows') return;
    this.#columns = shape.columns.map(postgresColumn);
    this.#forms = this.#columns.map((column, i) => cellForm(column, this.encoding.isNative(i)));
  }

  start(): void {
    const { describes, writer } = this.#options;
    this.#rows = 0;
    if (!describes || this.#isDescribed) return;
    this.#isDescribed = true;
    writer.push(rowDescription(this.#columns, this.#formats));
  }

  batch(batch: ResultBatch): Promise<void> | undefined {
    if (batch.rows === 0) return undefined;
    this.#rows += batch.rows;
    this.#hasSent = true;
    return inTurns(batch, this.#forms, (cells, rows) => {
      this.#options.writer.push(dataRows(cells, rows));
      return this.#options.writer.flush();
    });
  }

  changed(count: number): void {
    this.#changed = count;
  }

  finish({ rowCount }: ResultSummary): void {
    this.#rows = rowCount;
  }

  get #formats(): readonly number[] {
    return formatsOf(this.#options.formats, this.#columns.length);
  }
}

/** The form of each column: a single one holds for all. */
export const formatsOf = (given: readonly number[], columns: number): readonly number[] =>
  Array.from({ length: columns }, (_, i) => (given.length === 1 ? given[0] : given[i]) ?? 0);
