import { BINDING_CODES } from '#shared/duckdb-error.ts';
import { SkeinError } from '#shared/error.ts';
import type { OutputSpec } from '#proto/task.ts';
import type { OutputWriter } from './output-writer.ts';
import { openWriter } from './output-writer.ts';
import { interruptConnection } from '../duckdb/instance.ts';
import { destroyChunk, Statement } from '../duckdb/statement.ts';
import type { MemoryUse, TaskInstance } from './instance-pool.ts';
import type { InterruptControl } from './interrupt-control.ts';
import type { TaskOutput } from './task-output.ts';

/** Memory is looked at so often: it costs a tenth of a millisecond. DuckDB's own count of the peak would cost every small query that. */
const QUANTA_PER_SAMPLE = 8;

/** Why a quantum ended: there is more to do, the reader must come first, helper threads are at work, or all is done. */
export type QuantumEnd = 'more' | 'blocked' | 'waiting' | 'done';

/** What a task runs: steps that come before, the statement, and where its rows go. */
export type TaskText = {
  readonly loading: Iterator<void>;
  readonly sql: string;
  readonly collected: boolean;
  /** The coordinator printed it from a plan; else it is the user's own. */
  readonly isFragment: boolean;
  readonly output: OutputSpec;
};

/**
 * The error of a fragment that has not begun to run. What its parser or binder says is no fault of the user, whose own statement was bound
 * before a plan was made of it.
 */
export function fragmentError(thrown: unknown): unknown {
  const { code, message, cause } = SkeinError.of(thrown);
  return BINDING_CODES.has(code) ? new SkeinError('FRAGMENT_REFUSED', message, { cause }) : thrown;
}

/**
 * One fragment in one instance, run by quanta in the slot's thread:
 *
 * ```
 * new --load inputs--> loaded --bind, plan--> stepping --ready--> fetching --no more rows--> done
 * ```
 *
 * Disposed by its owner in every case; then the instance may be used again only if `done`.
 */
export class SlotTask implements Disposable {
  readonly #instance: TaskInstance;
  readonly #text: TaskText;
  readonly #output: TaskOutput;
  readonly #control: InterruptControl;
  readonly #quantumMaxMs: number;
  /** When helper threads began with what they are at; undefined while they are at nothing. */
  #waitingSinceMs: number | undefined;
  #statement: Statement | undefined;
  #writer: OutputWriter | undefined;
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

  /** It has had so much time on the thread. */
  charge(scheduledMs: number): void {
    this.#control.charge(scheduledMs);
  }

  useThreads(threads: number): void {
    this.#instance.useThreads(threads);
  }

  /** Works until the time is up, or it cannot go on. @throws what ends the task. */
  runQuantum(deadlineMs: number): QuantumEnd {
    try {
      if (this.#control.isWithdrawn) throw new SkeinError('QUERY_CANCELLED', 'the task runs elsewhere');
      if (this.#cancelled !== undefined) throw this.#cancelled;
      if (++this.#quanta % QUANTA_PER_SAMPLE === 0) this.#sampleMemory();
      if (this.#statement === undefined && !this.#load(deadlineMs)) return 'more';
      return this.#writer === undefined ? this.#step(deadlineMs) : this.#fetch(this.#writer, deadlineMs);
    } catch (error) {
      // An interrupt says only that it was one; who asked for it knows why.
      if (this.#cancelled !== undefined) throw this.#cancelled;
      throw this.#text.isFragment && this.#statement === undefined ? fragmentError(error) : error;
    }
  }

  /** The most that was seen; a task of a few quanta has not been looked at. */
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

  /** Puts inputs into their tables; true when all are there. */
  #load(deadlineMs: number): boolean {
    do {
      if (this.#text.loading.next().done === true) return true;
    } while (performance.now() < deadlineMs);
    return false;
  }

  #step(deadlineMs: number): QuantumEnd {
    // A query and nothing else: whatever a coordinator has let pass, a task sets nothing, writes no file, leaves nothing in the instance.
    this.#statement ??= new Statement(this.#instance.connection, this.#text.sql, {
      mayBe: 'query',
      collected: this.#text.collected,
    });
    do {
      const state = this.#statement.step();
      if (state === 'waiting') return this.#waitForHelpers();
      this.#waitingSinceMs = undefined;
      if (state === 'ready') {
        this.#writer = openWriter(this.#statement.result, this.#text.output, this.#output, () =>
          this.#instance.instance.arrowWithoutViews(),
        );
        return this.#fetch(this.#writer, deadlineMs);
      }
    } while (performance.now() < deadlineMs);
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

  #fetch(writer: OutputWriter, deadlineMs: number): QuantumEnd {
    do {
      if (this.#output.full) return 'blocked';
      const chunk = this.#statement?.fetch();
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
    } while (performance.now() < deadlineMs);
    return 'more';
  }

  [Symbol.dispose](): void {
    this.#control.close();
    this.#text.loading.return?.();
    // Destroying a statement that has not ended runs its pieces to their end, unless the connection is interrupted.
    if (!this.#done) interruptConnection(this.#instance.connection.address);
    this.#writer?.[Symbol.dispose]();
    this.#statement?.[Symbol.dispose]();
  }
}
