import { setImmediate } from 'node:timers/promises';
import { must } from '#shared/must.ts';
import type { ColumnForms } from '../../sink/formed-rows.ts';
import type { DoorSink, ResultBatch, ResultShape, ResultSummary } from '../../sink/result-sink.ts';
import { arrowColumns } from './arrow-columns.ts';
import { cellForm, cellsOf, cellLayout, type CellForm } from './cells.ts';
import { dataRows } from './data-rows.ts';
import { postgresColumn, type PostgresColumn } from './postgres-type.ts';
import { rowDescription, warning } from './server-messages.ts';
import type { WireWriter } from './wire-writer.ts';

/** Values that are encoded in one turn of the event loop, and rows. */
const [TURN_VALUES, TURN_ROWS] = [100_000, 4_096];

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
    if (shape.kind === 'rows') this.#columns = shape.columns.map(postgresColumn);
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
    const forms = this.#forms;
    const columns = arrowColumns(batch, forms.map(cellLayout));
    const values = columns.reduce(
      (sum, { offsets, items }) => sum + (items === null ? 0 : (offsets[batch.rows] ?? 0)),
      0,
    );
    const perRow = Math.max(1, columns.length + values / batch.rows);
    const turn = Math.max(1, Math.min(TURN_ROWS, Math.floor(TURN_VALUES / perRow)));
    const next = (from: number): Promise<void> | undefined => {
      const to = Math.min(from + turn, batch.rows);
      const cells = columns.map((column, i) => cellsOf(column, must(forms[i], 'each column has a form'), from, to));
      this.#options.writer.push(dataRows(cells, to - from));
      return this.#options.writer.flush();
    };
    const flushed = next(0);
    return batch.rows <= turn ? flushed : rest(next, { turn, rows: batch.rows }, flushed);
  }

  changed(count: number): void {
    this.#changed = count;
  }

  finish({ rowCount }: ResultSummary): void {
    this.#rows = rowCount;
  }

  get #forms(): readonly CellForm[] {
    return this.#columns.map((column, i) => cellForm(column, this.encoding.isNative(i)));
  }

  get #formats(): readonly number[] {
    return formatsOf(this.#options.formats, this.#columns.length);
  }
}

/** The form of each column: a single one holds for all. */
export const formatsOf = (given: readonly number[], columns: number): readonly number[] =>
  Array.from({ length: columns }, (_, i) => (given.length === 1 ? given[0] : given[i]) ?? 0);

/** The rest of a large batch, in turns: others are served between them. */
async function rest(
  next: (from: number) => Promise<void> | undefined,
  { turn, rows }: { readonly turn: number; readonly rows: number },
  flushed: Promise<void> | undefined,
): Promise<void> {
  await flushed;
  for (let from = turn; from < rows; from += turn) {
    await setImmediate();
    await next(from);
  }
}
