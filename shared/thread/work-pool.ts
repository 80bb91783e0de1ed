import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { Piscina } from 'piscina';
import { SkeinError, type ErrorCode } from '#shared/error.ts';
import type { Logger } from '#shared/log/logger.ts';
import type { ThreadJob } from './thread.ts';
import { SharedPlaces } from './shared-places.ts';
import type { Work, WorkAnswer, WorkSettings } from './work.ts';

export type WorkPoolOptions = {
  readonly threads: number;
  /** JavaScript heap of one thread. */
  readonly heapBytes: number;
  /** Maximum time of a piece of work. */
  readonly timeoutMs: number;
  /** Kind of data that the threads read, for error messages: `tables`. */
  readonly kind: string;
  /** The error of work that takes too much time or memory. */
  readonly tooComplex: ErrorCode;
  readonly settings?: WorkSettings;
  readonly log: Logger;
};

export type WorkCall = {
  /** The owner of the work; one owner never takes more than half of the threads. */
  readonly owner: string;
  /** Subject of the work, for error messages: `the metadata of lake.a.b`. */
  readonly what: string;
  readonly signal?: AbortSignal | undefined;
};

/** Maximum number of pieces of work that wait for a thread. */
const WAITING_MAX = 1_000;

/**
 * Threads for work whose cost a client decides: reading files of its tables, or data that it sent. The readers have limits of their own; if
 * one of them fails, the thread exceeds its time or memory, ends, and is replaced. Neither the main thread nor the work of other owners
 * waits for it.
 */
export class WorkPool implements AsyncDisposable {
  readonly #options: WorkPoolOptions;
  readonly #pool: Piscina<ThreadJob, WorkAnswer<unknown>>;
  readonly #places: SharedPlaces;

  constructor(options: WorkPoolOptions) {
    this.#options = options;
    this.#places = new SharedPlaces(options.threads, WAITING_MAX);
    // A service's flag makes the young generation of its main thread large; threads that read seldom begin with V8's default.
    setFlagsFromString('--min-semi-space-size=0');
    this.#pool = new Piscina({
      filename: fileURLToPath(new URL('thread.ts', import.meta.url)),
      name: 'runWork',
      minThreads: 0,
      maxThreads: options.threads,
      // Threads keep their caches of decoded data.
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
   * Does the work in a thread.
   * @throws the error of the work; `tooComplex` when it takes too much time or memory; QUEUE_FULL; the reason of the signal
   */
  async run<In, Out>(work: Work<In, Out>, input: In, call: WorkCall): Promise<Out> {
    const leave = await this.#places.take(call.owner, call.signal);
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
