import type { ResultBatch, ResultShape, ResultSink } from '../../sink/result-sink.ts';
import { COUNT_COLUMNS } from '../../sink/count-batch.ts';

/** Takes the result of a statement that changes rows, of which only their number is wanted; rows of others are dropped. */
export class UpdateCount implements ResultSink {
  readonly encoding = 'arrow';
  readonly committed = false;
  #isCount = false;
  #rows = 0;

  /** Rows that the statement has changed; 0 for one that changes none. */
  get rows(): number {
    return this.#rows;
  }

  start({ columns }: ResultShape): void {
    this.#isCount = columns === COUNT_COLUMNS || (columns.length === 1 && columns[0]?.name === 'count');
  }

  batch({ body }: ResultBatch): undefined {
    if (this.#isCount) this.#rows = Number(body.readBigInt64LE());
  }

  hold(): void {}

  release(): Promise<void> {
    return Promise.resolve();
  }

  finish(): void {}
}
