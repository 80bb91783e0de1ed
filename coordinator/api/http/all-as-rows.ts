import { must, unreachable } from '#shared/must.ts';
import type { ResultBatch, ResultShape, DoorSink, ResultSummary, RowShape } from '../../sink/result-sink.ts';
import { COUNT_COLUMNS, encodeMade, STATUS_COLUMNS } from '../../sink/made-rows.ts';

/** The body of an answer, which has rows, whatever the statement. */
export type RowsBody = Omit<DoorSink, 'planned' | 'changed' | 'start'> & { start(shape: RowShape): void };

/** Counts and statuses have no timestamps. */
const NO_ZONE = 'UTC';

/**
 * The result of a statement as HTTP answers it: a number of changed rows is one row with the column `count`, and a statement without any
 * result one with the column `status`.
 */
export class AllAsRows implements DoorSink {
  readonly #body: RowsBody;
  #shape: ResultShape | undefined;
  #count = 0;

  constructor(body: RowsBody) {
    this.#body = body;
  }

  get encoding(): RowsBody['encoding'] {
    return this.#body.encoding;
  }

  get committed(): boolean {
    return this.#body.committed;
  }

  get progress(): number {
    return this.#body.progress;
  }

  planned(shape: ResultShape): void {
    this.#shape = shape;
  }

  start(): void {
    const { kind, ...shape } = must(this.#shape, 'it is planned first');
    if (kind === 'rows' && 'columns' in shape) this.#body.start(shape);
  }

  batch(batch: ResultBatch): Promise<void> | undefined {
    return this.#body.batch(batch);
  }

  changed(count: number): void {
    this.#count = count;
  }

  finish(summary: ResultSummary): void {
    const shape = must(this.#shape, 'it is planned first');
    const { encoding } = this;
    switch (shape.kind) {
      case 'rows':
        break;
      case 'count':
        this.#body.start({ columns: COUNT_COLUMNS, timeZone: NO_ZONE });
        void this.#body.batch(encodeMade(encoding, COUNT_COLUMNS, [[this.#count]]));
        break;
      case 'nothing':
        this.#body.start({ columns: STATUS_COLUMNS, timeZone: NO_ZONE });
        void this.#body.batch(encodeMade(encoding, STATUS_COLUMNS, [[shape.status]]));
        break;
      default:
        unreachable(shape);
    }
    this.#body.finish(summary);
  }
}
