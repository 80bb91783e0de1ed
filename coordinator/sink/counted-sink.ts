import { MiscountedRows } from './miscounted-rows.ts';
import { requireSameColumns } from './require-same-columns.ts';
import type { Encoding, OutputColumn, ResultBatch, ResultShape, ResultSink, ResultSummary } from './result-sink.ts';

/**
 * The sink between a statement and its door: it counts the rows, so that a result leaves only with as many as its tasks gave, and holds a
 * statement that is planned again to what the door was told. A count or a status counts as one row, as HTTP answers it.
 */
export class CountedSink implements ResultSink {
  readonly #sink: ResultSink;
  #shape: ResultShape | undefined;
  #rows = 0;

  constructor(sink: ResultSink) {
    this.#sink = sink;
  }

  get encoding(): Encoding {
    return this.#sink.encoding;
  }

  get committed(): boolean {
    return this.#sink.committed;
  }

  get progress(): number {
    return this.#sink.progress;
  }

  /** Rows of the result so far. */
  get rows(): number {
    return this.#rows;
  }

  /** @throws COLUMNS_CHANGED when another shape was told before */
  planned(shape: ResultShape): void {
    if (shape.kind !== 'rows') this.#rows = 1;
    if (this.#shape === undefined) {
      this.#shape = shape;
      this.#sink.planned(shape);
    } else {
      requireSameColumns(columnsOf(this.#shape), columnsOf(shape));
    }
  }

  start(): void {
    this.#rows = 0;
    this.#sink.start();
  }

  batch(batch: ResultBatch): Promise<void> | undefined {
    this.#rows += batch.rows;
    return this.#sink.batch(batch);
  }

  hold(): void {
    this.#sink.hold();
  }

  release(): Promise<void> {
    return this.#sink.release();
  }

  changed(count: number): void {
    this.#sink.changed(count);
  }

  /** To be called before `finish`. @throws MiscountedRows unless the result has this many rows */
  check(given: number): void {
    if (given !== this.#rows) throw new MiscountedRows({ given, arrived: this.#rows });
  }

  finish(summary: ResultSummary): void {
    this.check(summary.rowCount);
    this.#sink.finish(summary);
  }
}

const columnsOf = (shape: ResultShape): readonly OutputColumn[] => (shape.kind === 'rows' ? shape.columns : []);
