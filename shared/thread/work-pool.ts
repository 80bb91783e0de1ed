import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { SkeinError, type ErrorCode } from '#shared/error.ts';
import type { Logger } from '#shared/log/logger.ts';
import type { ThreadJob } from './thread.ts';
import { Turns } from './turns.ts';
import type { Work, WorkAnswer, WorkSettings } from './work.ts';

export type WorkPoolOptions = {
  readonly threads: number;
  /** JavaScript heap of one thread. */
  readonly heapBytes: number;
  /** Longest that a piece of work may take. */
  readonly timeoutMs: number;
  /** Kind of data that its threads read, for error messages: `tables`. */
  readonly kind: string;
  /** The error of work that takes too long or too much memory. */
  readonly tooComplex: ErrorCode;
  readonly settings?: WorkSettings;
  readonly log: Logger;
};

export type WorkCall = {
  /** Whose work it is; one owner never takes more than half of the threads. */
  readonly owner: string;
  /** Subject of the work, for error messages: `the metadata of lake.a.b`. */
  readonly what: string;
  readonly signal?: AbortSignal | undefined;
};

/** Pieces of work that wait for a thread. */
const WAITING_MAX = 1_000;

/**
 * Threads for work whose cost a stranger decides: reading what a client wrote into the files of its tables, or sent. The readers have limits
 * of their own; should one of them fail, the thread runs out of time or memory, ends, and another takes its place. Neither the main thread
 * nor the work of other owners waits for it.
 */
export class WorkPool implements AsyncDisposable {
  readonly #options: WorkPoolOptions;
  readonly #pool: Piscina<ThreadJob, WorkAnswer<unknown>>;
  readonly #turns: Turns;

  constructor(options: WorkPoolOptions) {
    this.#options = options;
    this.#turns = new Turns(options.threads, WAITING_MAX);
    this.#pool = new Piscina({
      filename: fileURLToPath(new URL('thread.ts', import.meta.url)),
      name: 'runWork',
      minThreads: 0,
      maxThreads: options.threads,
      // Threads keep what they have decoded.
      idleTimeout: Infinity,
      concurrentTasksPerWorker: 1,
      resourceLimits: { maxOldGenerationSizeMb: Math.ceil(options.heapBytes / 2 ** 20) },
      workerData: options.settings,
      atomics: 'disabled',
      recordTiming: false,
    });
    this.#pool.on('error', (error: unknown) =>
      options.log.warn({ err: error }, `a thread that reads ${options.kind} died`),
    );
  }

  /**
   * Has a thread do the work.
   * @throws what it throws; `tooComplex` when it takes too long or too much memory; QUEUE_FULL; the reason of the signal
   */
  async run<In, Out>(work: Work<In, Out>, input: In, call: WorkCall): Promise<Out> {
    const leave = await this.#turns.take(call.owner, call.signal);
    const stop = new AbortController();
    const cancel = (): void => stop.abort();
    call.signal?.addEventListener('abort', cancel, { once: true });
    const timer = setTimeout(cancel, this.#options.timeoutMs);
    try {
      if (call.signal?.aborted === true) throw call.signal.reason;
      const job = { module: work.module.href, name: work.name, input };
      const answer = await this.#pool.run(job, { signal: stop.signal });
      if (answer.kind === 'done') return answer.value as Out;
      const cause = answer.detail === '' ? undefined : new Error(answer.detail);
      throw new SkeinError(answer.error.code, answer.error.message, { position: answer.error.position, cause });
    } catch (error) {
      throw this.#explain(error, call, stop.signal);
    } finally {
      clearTimeout(timer);
      call.signal?.removeEventListener('abort', cancel);
      leave();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.destroy();
  }

  #explain(error: unknown, { what, signal }: WorkCall, stopped: AbortSignal): unknown {
    if (signal?.aborted === true) return signal.reason;
    if (error instanceof SkeinError) return error;
    const { timeoutMs, heapBytes, kind, tooComplex, log } = this.#options;
    const isMemory = (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY';
    const why = stopped.aborted ? `takes longer than ${timeoutMs} ms` : `needs more than ${heapBytes} bytes of memory`;
    if (!stopped.aborted && !isMemory) return new SkeinError('INTERNAL_ERROR', 'internal error', { cause: error });
    log.warn({ what, why }, `a thread that reads ${kind} was replaced`);
    return new SkeinError(tooComplex, `reading ${what} ${why}`);
  }
}
