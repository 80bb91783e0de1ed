import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { SkeinError } from '#shared/error.ts';
import type { Logger } from '#shared/log/logger.ts';

export type WatchedFilesOptions<T> = {
  readonly paths: readonly string[];
  /** Converts the files' contents, in the order of `paths`, to the value. @throws when they are not valid, or do not fit together */
  readonly parse: (contents: readonly Buffer[]) => T;
  readonly intervalMs: number;
  readonly log: Logger;
};

/**
 * Re-reads files while the process runs, so that keys can be replaced without a restart. It compares contents, because a file that is
 * replaced twice within a second may keep its time and size. While the contents are invalid (one file of a pair is replaced before the
 * other), the last valid value stays in place.
 */
export class WatchedFiles<T> implements Disposable {
  readonly #options: WatchedFilesOptions<T>;
  readonly #listeners = new Set<(value: T) => void>();
  readonly #timer: NodeJS.Timeout;
  #contents: readonly Buffer[];
  #value: T;
  #complaint = '';
  #reading = false;

  /** Reads the files immediately. @throws INVALID_CONFIGURATION */
  constructor(options: WatchedFilesOptions<T>) {
    this.#options = options;
    try {
      this.#contents = options.paths.map((path) => readFileSync(path));
    } catch (cause) {
      const { code, path } = cause as NodeJS.ErrnoException;
      throw new SkeinError('INVALID_CONFIGURATION', `cannot read ${path}: ${code}`, { cause });
    }
    this.#value = options.parse(this.#contents);
    this.#timer = setInterval(() => void this.reload(), options.intervalMs).unref();
  }

  get value(): T {
    return this.#value;
  }

  /** Calls `listener` with every new value, until the returned function is called. */
  onChange(listener: (value: T) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Reads the files now instead of at the end of the interval. */
  async reload(): Promise<void> {
    if (this.#reading) return;
    this.#reading = true;
    const { paths, parse, log } = this.#options;
    try {
      const contents = await Promise.all(paths.map((path) => readFile(path)));
      if (contents.every((content, i) => this.#contents[i]?.equals(content) === true)) return;
      this.#value = parse(contents);
      this.#contents = contents;
      this.#complaint = '';
      log.info({ paths }, 'changed files are in use');
      for (const listener of this.#listeners) listener(this.#value);
    } catch (error) {
      const { message } = error as Error;
      if (this.#complaint !== message) log.warn({ paths, reason: message }, 'changed files are not used');
      this.#complaint = message;
    } finally {
      this.#reading = false;
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#listeners.clear();
  }
}
