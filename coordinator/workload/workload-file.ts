import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '#shared/config/config-schema.ts';
import { SkeinError } from '#shared/error.ts';
import type { Logger } from '#shared/log/logger.ts';
import { readWorkload, WORKLOAD_BYTES_MAX } from './read-workload.ts';
import { DEFAULT_WORKLOAD, type Workload } from './workload.ts';

/**
 * Interval at which the file is looked at. A change is read when two looks have found the same state, because half of a file that is
 * being written may be valid, too; so it takes effect within two seconds.
 */
const LOOK_MS = 400;

/** Reads the workload file again whenever it changes. An invalid file changes nothing: the workload before it stays in force. */
export class WorkloadFile implements AsyncDisposable {
  readonly #path: string;
  readonly #log: Logger;
  readonly #listeners = new Set<(workload: Workload) => void>();
  readonly #timer: NodeJS.Timeout;
  #looking: Promise<void> = Promise.resolve();
  #version: string;
  /** The version at the last look. */
  #seen: string;
  #current: Workload;
  #problem: string | null = null;
  /** Why the file of `#version` was refused; null = it is in force. */
  #refusal: string | null = null;

  private constructor(read: FileState & { readonly path: string }, log: Logger) {
    this.#path = read.path;
    this.#version = read.version;
    this.#seen = read.version;
    this.#current = read.workload;
    this.#log = log;
    this.#timer = setInterval(() => {
      this.#looking = this.#looking.then(() => this.#look());
    }, LOOK_MS);
    this.#timer.unref();
  }

  /** @throws INVALID_CONFIGURATION when the file is not valid, or a file that the configuration names is missing */
  static async open(config: Config, log: Logger): Promise<WorkloadFile> {
    const path = workloadPath(config);
    const version = await versionOf(path);
    if (version === MISSING && config['coordinator.workload_file'] !== '')
      throw new SkeinError('INVALID_CONFIGURATION', `coordinator.workload_file: there is no file ${path}`);
    return new WorkloadFile(
      { path, version, workload: version === MISSING ? DEFAULT_WORKLOAD : readWorkload(await textOf(path), path) },
      log,
    );
  }

  get current(): Workload {
    return this.#current;
  }

  /** Why the file as it is now is not in force; null = it is. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Calls `listener` with every other workload. The returned function ends this. */
  onChange(listener: (workload: Workload) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
  }

  async #look(): Promise<void> {
    try {
      const version = await versionOf(this.#path);
      const isSettled = version === this.#seen;
      this.#seen = version;
      if (!isSettled) return;
      if (version === this.#version) {
        // The file may have been gone for a while, or could not be read.
        this.#report(this.#refusal);
        return;
      }
      if (version === MISSING) throw new SkeinError('INVALID_CONFIGURATION', `${this.#path} is gone`);
      // A file that cannot be read now may be readable at the next look.
      const text = await textOf(this.#path);
      this.#version = version;
      this.#take(text);
    } catch (error) {
      this.#report(SkeinError.of(error).message);
    }
  }

  #take(text: string): void {
    try {
      this.#current = readWorkload(text, this.#path);
      this.#problem = null;
      this.#refusal = null;
      this.#log.info({ file: this.#path }, 'the workload file has changed and is in force');
      for (const listener of this.#listeners) listener(this.#current);
    } catch (error) {
      this.#refusal = SkeinError.of(error).message;
      throw error;
    }
  }

  /** Sets the problem, and logs it when it is another one than before. */
  #report(problem: string | null): void {
    if (problem === this.#problem) return;
    this.#problem = problem;
    if (problem === null) this.#log.info({ file: this.#path }, 'the workload file is back, and in force as before');
    else this.#log.error({ reason: problem }, 'the workload file is not valid: the one before it stays in force');
  }
}

type FileState = { readonly version: string; readonly workload: Workload };

/** The workload file that the configuration names, or else that of the data folder. */
export const workloadPath = (config: Config): string =>
  config['coordinator.workload_file'] || join(config.data_dir, 'workload.yaml');

/** The version of a file that is not there. */
const MISSING = 'missing';

/** Changes whenever the file is written or replaced. */
async function versionOf(path: string): Promise<string> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return `${ino}/${size}/${mtimeNs}/${ctimeNs}`;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return MISSING;
    throw new SkeinError('INVALID_CONFIGURATION', `${path}: ${(error as Error).message}`);
  }
}

async function textOf(path: string): Promise<string> {
  const { size } = await stat(path);
  if (size > WORKLOAD_BYTES_MAX)
    throw new SkeinError('INVALID_CONFIGURATION', `${path} has more than ${WORKLOAD_BYTES_MAX} bytes`);
  return readFile(path, 'utf8');
}
