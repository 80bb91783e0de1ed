import type { DoorSink } from '../../sink/result-sink.ts';

/** Takes the result of a statement of which only the number of changed rows is wanted; rows are dropped. */
export class UpdateCount implements DoorSink {
  readonly encoding = 'arrow';
  readonly committed = false;
  readonly progress = 0;
  #rows = 0;

  /** Rows that the statement has changed; 0 for one that changes none. */
  get rows(): number {
    return this.#rows;
  }

  planned(): void {}

  start(): void {}

  batch(): undefined {}

  hold(): void {}

  release(): Promise<void> {
    return Promise.resolve();
  }

  changed(count: number): void {
    this.#rows = count;
  }

  finish(): void {}
}
