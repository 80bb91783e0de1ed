import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';

/** JavaScript heap of one thread. What a hash needs lies outside of it. */
const HEAP_MIB = 32;

/** The threads in which passwords are hashed: they start with the first one, and have a lower priority than the main thread. */
export class HashThreads implements AsyncDisposable {
  readonly #pool: Piscina;

  constructor(threads: number) {
    this.#pool = new Piscina({
      filename: fileURLToPath(new URL('hash-thread.ts', import.meta.url)),
      minThreads: 0,
      maxThreads: threads,
      idleTimeout: Infinity,
      concurrentTasksPerWorker: 1,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
      atomics: 'disabled',
      recordTiming: false,
    });
  }

  /** The PHC string to store. */
  hash(password: string): Promise<string> {
    return this.#pool.run(password, { name: 'hashInThread' }) as Promise<string>;
  }

  isHashOf(password: string, hash: string): Promise<boolean> {
    return this.#pool.run({ password, hash }, { name: 'isHashOf' }) as Promise<boolean>;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.destroy();
  }
}
