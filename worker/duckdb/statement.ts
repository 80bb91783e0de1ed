import { duckDbError } from '#shared/duckdb-error.ts';
import { SkeinError } from '#shared/error.ts';
import { errorAt, errorTextAt } from './error-at.ts';
import { cString, type Connection } from './instance.ts';
import { duckdb, word, type Address, type ResultWords } from './library.ts';

/** State after one piece of work: more to do at once, nothing to do until helper threads advance, or rows to fetch. */
export type StepState = 'more' | 'waiting' | 'ready';

const PENDING_ERROR = 2;
const NO_TASKS_AVAILABLE = 3;
/** The kinds of statements that a task runs, as numbers of `duckdb_statement_type`. */
const TYPES = { query: 1, copy: 11 } as const;
export type StatementKind = keyof typeof TYPES;

/**
 * SQL that stands for false in calls of table functions. DuckDB binds and plans a statement over files or table functions whenever it runs,
 * however it was prepared: to prepare it, too, would be done for nothing, and costs as much. As a parameter without a value, which binding
 * needs at the first such call, it makes DuckDB prepare no more than the parse. `PreparedStatement` gives it its value.
 */
export const LATE_FALSE = '$skein_late';

/**
 * A statement that is bound and planned, or only parsed when it has `LATE_FALSE`. It may run any number of times, one after the other:
 * DuckDB itself binds it again when what it reads has changed. It must be disposed before its connection.
 */
export class PreparedStatement implements Disposable {
  /** CPU time that binding and planning took, in ms: on a busy machine the clock would count what others did. */
  readonly preparedMs: number;
  readonly #handle = word();

  /** @throws DuckDB's error; NOT_SUPPORTED when it is not what it may be. */
  constructor(connection: Connection, sql: string, mayBe: StatementKind | 'anything' = 'query') {
    const before = process.threadCpuUsage();
    try {
      if (duckdb.prepare(connection.address, cString(sql), this.#handle) !== 0) {
        throw errorAt(duckdb.prepare_error(this.address));
      }
      if (mayBe !== 'anything' && duckdb.prepared_statement_type(this.address) !== TYPES[mayBe]) {
        throw new SkeinError('NOT_SUPPORTED', `a task is a ${mayBe}`);
      }
      this.#bindLate();
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
    const { user, system } = process.threadCpuUsage(before);
    this.preparedMs = (user + system) / 1_000;
  }

  get address(): Address {
    return this.#handle[0] ?? 0n;
  }

  #bindLate(): void {
    if (Number(duckdb.nparams(this.address)) === 0) return;
    const index = word();
    const found = duckdb.bind_parameter_index(this.address, index, LATE_FALSE.slice(1)) === 0;
    if (found) duckdb.bind_boolean(this.address, index[0] ?? 0n, false);
  }

  [Symbol.dispose](): void {
    duckdb.destroy_prepare(this.#handle);
  }
}

/**
 * A run of a statement in pieces in this thread: call `step()` until it returns `ready`, then `fetch()` until it returns undefined. Rows
 * are streamed: DuckDB buffers about a megabyte of them, and most of the last pipeline's work happens in `fetch`, which blocks until there
 * are rows again. For a `collected` statement all work happens in `step`, and DuckDB holds, or spills, the whole result.
 *
 * Every call may throw DuckDB's error; the object must be disposed in any case, before its prepared statement.
 */
export class Statement implements Disposable {
  readonly #pending = word();
  readonly #words: ResultWords = new BigUint64Array(6);
  readonly #result = { words: this.#words };
  #executed = false;

  /** @throws DuckDB's error */
  constructor(prepared: PreparedStatement, { collected = false }: { readonly collected?: boolean } = {}) {
    const begin = collected ? duckdb.pending_prepared : duckdb.pending_prepared_streaming;
    if (begin(prepared.address, this.#pending) !== 0) {
      const error = errorAt(duckdb.pending_error(this.#pending[0] ?? 0n));
      this[Symbol.dispose]();
      throw error;
    }
  }

  step(): StepState {
    const pending = this.#pending[0] ?? 0n;
    const state = duckdb.pending_execute_task(pending);
    if (state === PENDING_ERROR) throw errorAt(duckdb.pending_error(pending));
    if (!duckdb.pending_execution_is_finished(state)) return state === NO_TASKS_AVAILABLE ? 'waiting' : 'more';
    this.#executed = true;
    if (duckdb.execute_pending(pending, this.#words) !== 0) this.#fail();
    return 'ready';
  }

  /** The result once it is ready, for the Arrow options and the columns. */
  get result(): ResultWords {
    return this.#words;
  }

  /** The next chunk of at most 2,048 rows, which the caller destroys; undefined at the end. */
  fetch(): Address | undefined {
    const chunk = duckdb.fetch_chunk(this.#result) as Address | null;
    if (chunk !== null && chunk !== 0n) return chunk;
    const error = errorTextAt(duckdb.result_error(this.#words));
    if (error !== '') throw duckDbError(error);
    return undefined;
  }

  #fail(): never {
    throw errorAt(duckdb.result_error(this.#words));
  }

  [Symbol.dispose](): void {
    if (this.#executed) duckdb.destroy_result(this.#words);
    this.#executed = false;
    duckdb.destroy_pending(this.#pending);
  }
}

/** Destroys a chunk of `fetch`. */
export const destroyChunk = (chunk: Address): void => duckdb.destroy_data_chunk(word(chunk));
