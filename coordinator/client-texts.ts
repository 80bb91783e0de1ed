import type { Config } from '#shared/config/config-schema.ts';
import type { Logger } from '#shared/log/logger.ts';
import type { Asker } from '#shared/fair/asker.ts';
import { runSized, type SizedWork } from '#shared/thread/sized-work.ts';
import { WorkPool } from '#shared/thread/work-pool.ts';

/** The owner and length of a text, and its name in errors, such as `the statement`. */
type TextOf = {
  readonly asker: Asker;
  readonly what: string;
  readonly bytes: number;
  readonly signal: AbortSignal;
};

/** Runs work on a client's text: at once for a short text, in a thread for a long one. */
export interface ClientTexts {
  /** @throws what the work throws; STATEMENT_TOO_COMPLEX, QUEUE_FULL, the reason of the signal */
  work<In, Out>(work: SizedWork<In, Out>, input: In, about: TextOf): Promise<Out>;
}

/** JavaScript heap of a thread: it holds one text, its copies and its plan. */
const HEAP_BYTES = 512 * 2 ** 20;

export class TextThreads implements ClientTexts, AsyncDisposable {
  readonly #pool: WorkPool;
  readonly #inlineBytes: number;

  constructor(config: Config, log: Logger) {
    this.#inlineBytes = config['coordinator.inline_text_bytes'];
    this.#pool = new WorkPool({
      threads: config['coordinator.text_threads'],
      heapBytes: HEAP_BYTES,
      timeoutMs: config['planner.timeout'],
      kind: 'statements',
      tooComplex: 'STATEMENT_TOO_COMPLEX',
      log,
    });
  }

  work<In, Out>(work: SizedWork<In, Out>, input: In, { asker, ...about }: TextOf): Promise<Out> {
    return runSized(this.#pool, work, input, { ...about, owner: asker.tenant, bytesHere: this.#inlineBytes });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#pool[Symbol.asyncDispose]();
  }
}
