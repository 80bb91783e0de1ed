import { LRUCache } from 'lru-cache';
import type { QueryId } from '#shared/id.ts';
import type { StatementShape } from './quarantine.ts';

/** Runs that are remembered: a worker may name one long after its statement was answered. */
const RUNS_MAX = 20_000;

/** Maps the runs that began last to their statements. */
export class RecentRuns {
  readonly #runs = new LRUCache<QueryId, StatementShape>({ max: RUNS_MAX });

  add(run: QueryId, shape: StatementShape): void {
    this.#runs.set(run, shape);
  }

  find(run: QueryId): StatementShape | undefined {
    return this.#runs.peek(run);
  }
}
