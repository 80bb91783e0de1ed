import { closeSync, copyFileSync, fstatSync, ftruncateSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFoldersSync } from '#shared/storage/make-folders.ts';

/** A log is rotated at this size; one older file is kept. */
const LOG_BYTES_MAX = 16 * 2 ** 20;
const ROTATION_CHECK_MS = 30_000;
/** Most characters of a log line that an error message quotes. */
const LAST_LINE_CHARS_MAX = 400;

/** The file that a service writes its log to; the service holds the descriptor, so it outlives the launcher. */
export class ServiceLog {
  readonly path: string;
  readonly fd: number;
  readonly #timer: NodeJS.Timeout;

  constructor(path: string) {
    this.path = path;
    makeFoldersSync(dirname(path), { mode: 0o700 });
    this.fd = openSync(path, 'a', 0o600);
    this.#rotate();
    this.#timer = setInterval(() => this.#rotate(), ROTATION_CHECK_MS).unref();
  }

  bytes(): number {
    return fstatSync(this.fd).size;
  }

  /** `: <the last line written since>`, or nothing. */
  lastLine(sinceBytes: number): string {
    const text = readFileSync(this.path).subarray(sinceBytes).toString();
    const last = text.trimEnd().split('\n').at(-1)?.trim() ?? '';
    return last === '' ? '' : `: ${last.slice(0, LAST_LINE_CHARS_MAX)}`;
  }

  close(): void {
    clearInterval(this.#timer);
    closeSync(this.fd);
  }

  // Copied and truncated, not renamed: the service keeps its descriptor, and in append mode continues at the new end.
  #rotate(): void {
    if (this.bytes() < LOG_BYTES_MAX) return;
    copyFileSync(this.path, `${this.path}.1`);
    ftruncateSync(this.fd);
  }
}
