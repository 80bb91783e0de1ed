import { BINDING_CODES } from '#shared/duckdb-error.ts';
import { SkeinError } from '#shared/error.ts';
import type { OutputWriter } from '../duckdb/chunk-writer.ts';
import { interruptConnection } from '../duckdb/instance.ts';
import type { Address, ResultWords } from '../duckdb/library.ts';
import { destroyChunk, PreparedStatement, Statement, type StatementKind } from '../duckdb/statement.ts';
import type { MemoryUse, TaskInstance } from '../duckdb/instance-pool.ts';
import type { InterruptControl } from '../turns/interrupt-control.ts';
import type { TaskOutput } from './task-output.ts';

/** Quanta between two samples of memory use. A sample takes 0.1 ms; DuckDB's own peak metric would cost every small query that. */
const QUANTA_PER_SAMPLE = 8;

/** Why a quantum ended: time is up, the reader must catch up, helper threads are at work, or the task is done. */
export type QuantumEnd = 'more' | 'blocked' | 'waiting' | 'done';

/** The work of a task: preparatory steps, the statement, and the destination of its rows. */
export type TaskText = {
  readonly loading: Iterator<void>;
  readonly sql: string;
  /** False for a text that names tables which live as long as the task. */
  readonly repeatable: boolean;
  readonly collected: boolean;
  /** True when the coordinator printed the SQL from a plan; false for the user's own text. */
  readonly isFragment: boolean;
  readonly mayBe: StatementKind;
  /** Makes the receiver of the rows when the statement begins to give them. */
  readonly open: (result: ResultWords) => OutputWriter;
};

/**
 * Maps the error of a fragment that has not begun to run. An error of its parser or binder is not the user's, whose own statement was
 * bound before it was planned, and neither is an internal error of DuckDB: both become FRAGMENT_REFUSED, and the query runs whole.
 */
export function fragmentError(thrown: unknown): unknown {
  const { code, message, cause } = SkeinError.of(thrown);
  const isRefused = BINDING_CODES.has(code) || code === 'ENGINE_FAULT';
  return isRefused ? new SkeinError('FRAGMENT_REFUSED', message, { cause }) : thrown;
}

/** Takes the rows of a statement that runs again for its error. */
const FOR_ITS_ERROR: OutputWriter = {
  append: () => undefined,
  finish: () => {
    throw new SkeinError(
      'ENGINE_FAULT',
      'DuckDB ended the statement with an error that it did not tell, and that did not come again',
    );
  },
  [Symbol.dispose]: () => undefined,
};

/**
 * One fragment in one instance, run by quanta in the slot's thread:
 *
 * ```
 * new --load inputs--> loaded --bind, plan--> stepping --ready--> fetching --no more rows--> done
 * ```
 *
 * A thread of DuckDB that meets an error interrupts the others. Of a statement that gives its rows already, DuckDB 1.5.5 often tells this
 * interrupt in the error's place. Nobody else has interrupted it then: the statement runs once more, on one core and without rows, and ends with
 * its own error.
 *
 * Disposed by its owner in every case; then the instance may be used again only if `done`.
 */
export class SlotTask implements Disposable {
  readonly #instance: TaskInstance;
  readonly #text: TaskText;
  readonly #output: TaskOutput;
  readonly #control: InterruptControl;
  readonly #quantumMaxMs: number;
  /** Time at which the helper threads began their present piece; undefined while the task does not wait for them. */
  #waitingSinceMs: number | undefined;
  #prepared: PreparedStatement | undefined;
  #statement: Statement | undefined;
  #writer: OutputWriter | undefined;
  #runsForItsError = false;
  #cancelled: SkeinError | undefined;
  #done = false;
  #quanta = 0;
  #peak: MemoryUse = { memoryBytes: 0, spilledBytes: 0 };

  constructor(
    instance: TaskInstance,
    text: TaskText,
    {
      output,
      control,
      quantumMaxMs,
    }: { readonly output: TaskOutput; readonly control: InterruptControl; readonly quantumMaxMs: number },
  ) {
    this.#instance = instance;
    this.#text = text;
    this.#output = output;
    this.#control = control;
    this.#quantumMaxMs = quantumMaxMs;
    control.open(instance.connection.address);
  }

  /** The next quantum throws this error. */
  cancel(error: SkeinError): void {
    this.#cancelled ??= error;
  }

  /** A quantum begins. */
  begin(): void {
    this.#control.begin();
  }

  /** Tells whether the task has work to do. */
  setRunnable(on: boolean): void {
    this.#control.setRunnable(on);
  }

  /** The quantum has ended after this time. */
  charge(quantumMs: number): void {
    this.#control.charge(quantumMs);
  }

  useThreads(threads: number): void {
    this.#instance.useThreads(this.#runsForItsError ? 1 : threads);
  }

  /** Works until the quantum is over, or until the task cannot continue. @throws the error that ends the task */
  runQuantum(isOver: () => boolean): QuantumEnd {
    try {
      if (this.#control.isWithdrawn) throw new SkeinError('QUERY_CANCELLED', 'the task runs elsewhere');
      if (this.#cancelled !== undefined) throw this.#cancelled;
      if (++this.#quanta % QUANTA_PER_SAMPLE === 0) this.#sampleMemory();
      if (this.#statement === undefined && !this.#load(isOver)) return 'more';
      return this.#writer === undefined ? this.#step(isOver) : this.#fetch(this.#writer, isOver);
    } catch (error) {
      // The interrupt's own error does not carry the reason; the cancel does.
      if (this.#cancelled !== undefined) throw this.#cancelled;
      throw this.#text.isFragment && this.#statement === undefined ? fragmentError(error) : error;
    }
  }

  /** Whether a `fetch` failed with an interrupt that nobody asked for. */
  #hidesItsError(error: unknown): boolean {
    const isInterrupt = SkeinError.of(error).code === 'QUERY_CANCELLED';
    return isInterrupt && !this.#control.wasInterrupted && !this.#runsForItsError;
  }

  #runForItsError(): void {
    this.#runsForItsError = true;
    this.#writer?.[Symbol.dispose]();
    this.#writer = undefined;
    this.#statement?.[Symbol.dispose]();
    this.#statement = undefined;
    this.useThreads(1);
  }

  /** Highest sampled memory use; zero for a task of fewer quanta than one sample interval. */
  get peakUse(): MemoryUse {
    return this.#peak;
  }

  #sampleMemory(): void {
    const { memoryBytes, spilledBytes } = this.#instance.memoryUse();
    this.#peak = {
      memoryBytes: Math.max(memoryBytes, this.#peak.memoryBytes),
      spilledBytes: Math.max(spilledBytes, this.#peak.spilledBytes),
    };
  }

  /** Loads inputs into their tables until the quantum is over; true when all are loaded. */
  #load(isOver: () => boolean): boolean {
    do {
      if (this.#text.loading.next().done === true) return true;
    } while (!isOver());
    return false;
  }

  #step(isOver: () => boolean): QuantumEnd {
    // Only a query is accepted, or a writer's own COPY, even if a coordinator let something else pass: a task changes no setting and leaves
    // nothing in the instance.
    const { sql, mayBe, collected } = this.#text;
    this.#prepared ??=
      mayBe === 'query' ? this.#instance.prepare(sql) : new PreparedStatement(this.#instance.connection, sql, mayBe);
    this.#statement ??= new Statement(this.#prepared, { collected });
    do {
      const state = this.#statement.step();
      if (state === 'waiting') return this.#waitForHelpers();
      this.#waitingSinceMs = undefined;
      if (state === 'ready') {
        this.#writer = this.#runsForItsError ? FOR_ITS_ERROR : this.#text.open(this.#statement.result);
        return this.#fetch(this.#writer, isOver);
      }
    } while (!isOver());
    return 'more';
  }

  /** @throws STEP_TOO_LONG when helper threads have been at one piece for too long */
  #waitForHelpers(): QuantumEnd {
    const nowMs = performance.now();
    this.#waitingSinceMs ??= nowMs;
    if (nowMs - this.#waitingSinceMs < this.#quantumMaxMs) return 'waiting';
    const limit = `one step of the query took longer than ${this.#quantumMaxMs} ms (worker.quantum_max)`;
    throw new SkeinError('STEP_TOO_LONG', limit);
  }

  #fetch(writer: OutputWriter, isOver: () => boolean): QuantumEnd {
    do {
      if (this.#output.full) return 'blocked';
      let chunk: Address | undefined;
      try {
        chunk = this.#statement?.fetch();
      } catch (error) {
        if (!this.#hidesItsError(error)) throw error;
        this.#runForItsError();
        return 'more';
      }
      if (chunk === undefined) {
        writer.finish();
        this.#done = true;
        return 'done';
      }
      try {
        writer.append(chunk);
      } finally {
        destroyChunk(chunk);
      }
      this.#output.sendRows();
    } while (!isOver());
    return 'more';
  }

  [Symbol.dispose](): void {
    this.#control.close();
    this.#text.loading.return?.();
    // Destroying an unfinished statement runs its pieces to their end, unless the connection is interrupted first.
    if (!this.#done) interruptConnection(this.#instance.connection.address);
    this.#writer?.[Symbol.dispose]();
    this.#statement?.[Symbol.dispose]();
    if (this.#prepared === undefined) return;
    if (this.#done && this.#text.repeatable) this.#instance.keep(this.#text.sql, this.#prepared);
    else this.#prepared[Symbol.dispose]();
  }
}
