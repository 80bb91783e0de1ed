import { cutArrow, cutJson } from './cut-batch.ts';
import type { DoorSink, Encoding, ResultBatch, ResultShape, ResultSummary } from './result-sink.ts';

/** The sink between a statement and a door that wants so many rows at most. Of what comes behind them the door is told that there is more. */
export class LimitedSink implements DoorSink {
  readonly #door: DoorSink;
  readonly #rowLimit: number;
  #shape: ResultShape | undefined;
  /** Rows that have come, those included that the door has not got. */
  #rows = 0;

  constructor(door: DoorSink, rowLimit: number) {
    this.#door = door;
    this.#rowLimit = rowLimit;
  }

  get encoding(): Encoding {
    return this.#door.encoding;
  }

  get committed(): boolean {
    return this.#door.committed;
  }

  get progress(): number {
    return this.#door.progress;
  }

  planned(shape: ResultShape): void {
    this.#shape = shape;
    this.#door.planned(shape);
  }

  start(): void {
    this.#rows = 0;
    this.#door.start();
  }

  batch(batch: ResultBatch): Promise<void> | undefined {
    const left = this.#rowLimit - this.#rows;
    this.#rows += batch.rows;
    if (left <= 0) return undefined;
    return this.#door.batch(batch.rows <= left ? batch : this.#cut(batch, left));
  }

  changed(count: number): void {
    this.#door.changed(count);
  }

  finish(summary: ResultSummary): void {
    if (this.#rows <= this.#rowLimit) return this.#door.finish(summary);
    this.#door.finish({ ...summary, rowCount: this.#rowLimit, isCut: true });
  }

  #cut(batch: ResultBatch, rows: number): ResultBatch {
    if (batch.header === null) return cutJson(batch, rows);
    if (this.#shape?.kind !== 'rows') throw new Error('invariant: rows have columns');
    return cutArrow(batch, rows, this.#shape);
  }
}
