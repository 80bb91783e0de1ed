import type { QueryId } from '#shared/id.ts';
import type { StatementShape } from './quarantine.ts';

/** Runs that are remembered: a worker may name one long after its statement was answered. */
const RUNS_MAX = 20_000;

/** Which statement each run belonged to, for the runs that began last. */
export class RecentRuns {
  readonly #runs = new Map<QueryId, StatementShape>();

  add(run: QueryId, shape: StatementShape): void {
    this.#runs.set(run, shape);
    const [oldest] = this.#runs.keys();
    if (this.#runs.size > RUNS_MAX && oldest !== undefined) this.#runs.delete(oldest);
  }

  find(run: QueryId): StatementShape | undefined {
    return this.#runs.get(run);
  }
}
