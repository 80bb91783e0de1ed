import { SkeinError } from '#shared/error.ts';
import type { RecalledTables, TableLoader } from '../resolver/table-source.ts';
import { statementTables, type StatementTables } from './statement-tables.ts';

/** Tables of a query that were given as they were last seen, and the questions whether they still are so. */
export class Recall {
  readonly #changed = new AbortController();
  readonly #questions: Promise<boolean>[] = [];
  #open = 0;

  /** Whether the catalog has said of all that were given that they are so. */
  get isSettled(): boolean {
    return this.#open === 0;
  }

  /** Stops the query when one of them is not, or when that cannot be found out; undefined when all are known to be. */
  get signal(): AbortSignal | undefined {
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

  /** Takes tables that were recalled. */
  take({ areCurrent }: RecalledTables): void {
    if (areCurrent === true) return;
    this.#questions.push(areCurrent);
    this.#open += 1;
    void this.#follow(areCurrent);
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

/**
 * Runs a query with its tables as they were last seen, while the catalog says whether they still are so. `run` lets no row out before
 * `whenCurrent`; no error leaves before, either. If they are not current, that run was for nothing, and the query runs with the tables of
 * the statement. Only the query is given recalled tables: what else the statement makes of `tables`, such as the rows of a SHOW in FROM, it
 * makes once.
 */
export async function runRecalled<Tables extends StatementTables, T>(
  { tables, source }: { readonly tables: Tables; readonly source: TableLoader },
  run: (tables: Tables, recall: Recall) => Promise<T>,
): Promise<T> {
  const recall = new Recall();
  const [ended] = await Promise.allSettled([run(recallingTables(tables, source, recall), recall)]);
  if (recall.isSettled || (await recall.areCurrent())) {
    if (ended.status === 'fulfilled') return ended.value;
    throw ended.reason;
  }
  return run(tables, new Recall());
}

/** The statement's tables, which are recalled where that can be done. */
function recallingTables<Tables extends StatementTables>(tables: Tables, source: TableLoader, recall: Recall): Tables {
  let isOver = false;
  const recalled = statementTables({
    loadTables: (names, signal) => {
      const last = isOver ? null : (source.recallTables?.(names, signal) ?? null);
      if (last === null) return tables.loadTables(names, signal);
      recall.take(last);
      return Promise.resolve(last.tables);
    },
    nearest: (name, missing) => tables.nearest(name, missing),
  });
  return {
    ...tables,
    ...recalled,
    forget: () => {
      isOver = true;
      recalled.forget();
      tables.forget();
    },
  };
}
