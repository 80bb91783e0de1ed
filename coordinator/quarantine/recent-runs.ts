import { LRUCache } from 'lru-cache';
import type { QueryId } from '#shared/id.ts';
import type { StatementShape } from './quarantine.ts';

/** Runs that are remembered: a worker may name one long after its statement was answered. */
const RUNS_MAX = 20_000;
/** Memory for them. */
const BYTES_MAX = 4 * 2 ** 20;
/** Bytes of a run without its statement's text. */
const RUN_BYTES = 500;

/** Maps the runs that began last to their statements. */
export class RecentRuns {
  readonly #runs = new LRUCache<QueryId, StatementShape>({
    max: RUNS_MAX,
    maxSize: BYTES_MAX,
    sizeCalculation: ({ sql }) => 2 * sql.length + RUN_BYTES,
  });

  add(run: QueryId, shape: StatementShape): void {
    this.#runs.set(run, shape);
  }

  find(run: QueryId): StatementShape | undefined {
    return this.#runs.peek(run);
  }
}
