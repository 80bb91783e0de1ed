import { MiscountedRows } from './miscounted-rows.ts';
import type { Encoding, ResultBatch, ResultShape, ResultSink, ResultSummary } from './result-sink.ts';

/** A sink that counts the rows that it has taken, so that a result leaves only with as many rows as its tasks gave. */
export class CountedSink implements ResultSink {
  readonly #sink: ResultSink;
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

  /** Rows of the result so far. */
  get rows(): number {
    return this.#rows;
  }

  start(shape: ResultShape): void {
    this.#rows = 0;
    this.#sink.start(shape);
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

  /** To be called before `finish`. @throws MiscountedRows unless the result has this many rows */
  check(given: number): void {
    if (given !== this.#rows) throw new MiscountedRows({ given, arrived: this.#rows });
  }

  finish(summary: ResultSummary): void {
    this.check(summary.rowCount);
    this.#sink.finish(summary);
  }
}
