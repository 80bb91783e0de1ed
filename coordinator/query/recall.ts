import { SkeinError } from '#shared/error.ts';
import type { LoadedTable, RecalledTables } from '../resolver/table-source.ts';

/** Tables of a statement that were given as they were last seen, and the questions whether they still are so. */
export class Recall {
  readonly #changed = new AbortController();
  readonly #questions: Promise<boolean>[] = [];
  #open = 0;

  /** Whether the catalog has said of all that were given that they are so. */
  get isSettled(): boolean {
    return this.#open === 0;
  }

  /** Aborts when one of them is not, or when that cannot be found out; undefined when all are known to be. */
  get open(): AbortSignal | undefined {
    return this.isSettled ? undefined : this.#changed.signal;
  }

  /** Whether all are. @throws what the catalog answers */
  async areCurrent(): Promise<boolean> {
    return (await Promise.all(this.#questions)).every((areCurrent) => areCurrent);
  }

  /** Does the work once all are known to be current, at once if they are. Rejects when one is not. */
  whenCurrent(work: () => Promise<void> | undefined): Promise<void> | undefined {
    return this.isSettled ? work() : this.#later(work);
  }

  async #later(work: () => Promise<void> | undefined): Promise<void> {
    if (!(await this.areCurrent())) throw changed();
    await work();
  }

  give(recalled: RecalledTables | null): readonly LoadedTable[] | null {
    if (recalled === null) return null;
    this.#questions.push(recalled.areCurrent);
    this.#open += 1;
    void this.#follow(recalled.areCurrent);
    return recalled.tables;
  }

  async #follow(question: Promise<boolean>): Promise<void> {
    try {
      if (await question) this.#open -= 1;
      else this.#changed.abort(changed());
    } catch (error) {
      this.#changed.abort(error);
    }
  }
}

/** The end of a run, which no client sees. */
const changed = (): SkeinError => new SkeinError('QUERY_CANCELLED', 'a table has changed since it was last seen');

type RecallingTables = { forget(): void; recall(): Recall };

/**
 * Runs a query with its tables as they were last seen, while the catalog says whether they still are so. `run` lets no row out before
 * `whenCurrent`; no error leaves before, either. If they are not current, that run was for nothing, and the query runs with the tables as
 * they are loaded then.
 */
export async function runRecalled<T>(tables: RecallingTables, run: (recall: Recall) => Promise<T>): Promise<T> {
  const recall = tables.recall();
  const [ended] = await Promise.allSettled([run(recall)]);
  if (recall.isSettled || (await recall.areCurrent())) {
    if (ended.status === 'fulfilled') return ended.value;
    throw ended.reason;
  }
  tables.forget();
  return run(new Recall());
}
