import { randomUUID } from 'node:crypto';
import { closeSync, ftruncateSync, openSync, readdirSync, readFileSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { SkeinError } from '#shared/error.ts';
import type { Logger } from '#shared/log/logger.ts';
import { fileLocker, isSameFile } from '#shared/storage/lock-file.ts';
import { makePrivateFolder } from '#shared/storage/private-folder.ts';

/** Size at which a file of the journal ends and the next begins. */
const FILE_BYTES_MAX = 4 * 2 ** 20;
const FILE_NAME = /^[0-9a-f-]{36}\.jsonl$/;

const NEWLINE = Buffer.from('\n');

type JournalOptions = { readonly folder: string; readonly bytesMax: number; readonly log: Logger };

type JournalFile = {
  readonly number: number;
  readonly path: string;
  readonly fd: number;
  bytes: number;
  /** A write stopped in the middle of a line. */
  isTorn: boolean;
};

/**
 * Records that Postgres does not have yet, a line of JSON each, in files of one folder. A line is written, not synced: it survives the end
 * of the process by any signal, not a power cut. Every file is locked by the process that writes it, so that the next one to start in the
 * folder finds the files whose process has ended, and stores their records.
 */
export class HistoryJournal implements Disposable {
  readonly #options: JournalOptions;
  readonly #lock = fileLocker();
  /** In the order of their numbers; the last one is written to. */
  #files: JournalFile[] = [];
  #next = 1;
  #bytes = 0;
  #failing = false;

  /** @throws START_FAILED when the folder cannot be used */
  constructor(options: JournalOptions) {
    this.#options = options;
    try {
      makePrivateFolder(options.folder);
      this.#files.push(this.#open());
    } catch (error) {
      throw new SkeinError('START_FAILED', `the journal of the history cannot be kept in ${options.folder}`, {
        cause: error,
      });
    }
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Writes lines that end with a newline. Returns the number of their file; null when they could not be written, which the log says. */
  append(lines: Buffer): number | null {
    try {
      const file = this.#active();
      const text = file.isTorn ? Buffer.concat([NEWLINE, lines]) : lines;
      file.isTorn = true;
      const written = writeSync(file.fd, text);
      file.isTorn = written < text.length;
      file.bytes += written;
      this.#bytes += written;
      if (file.isTorn) throw new Error(`${written} of ${text.length} bytes were written`);
      this.#failing = false;
      return file.number;
    } catch (error) {
      if (!this.#failing) this.#options.log.error({ err: error }, 'the journal of the history cannot be written');
      this.#failing = true;
      return null;
    }
  }

  /** Removes the files before the one with this number; null = every record is stored. */
  release(from: number | null): void {
    const active = this.#files.at(-1);
    const isOver = (file: JournalFile): boolean => file !== active && (from === null || file.number < from);
    for (const file of this.#files.filter(isOver)) this.#remove(file);
    this.#files = this.#files.filter((file) => !isOver(file));
    if (from !== null || active === undefined || active.bytes === 0) return;
    ftruncateSync(active.fd);
    this.#bytes -= active.bytes;
    active.bytes = 0;
  }

  /** The lines of a file of this journal that is full; those of one that was removed are lost. */
  read(number: number): readonly string[] {
    const file = this.#files.find((one) => one.number === number);
    return file === undefined ? [] : linesOf(file.path);
  }

  /** Ends a file, so that what is written from now on goes to the next one. */
  endFile(number: number): void {
    if (this.#files.at(-1)?.number === number) this.#files.push(this.#open());
  }

  /** Stores the records that ended processes have left in the folder, file by file, and removes each file after it. */
  async replay(store: (lines: readonly string[]) => Promise<void>): Promise<void> {
    const { folder } = this.#options;
    for (const name of readdirSync(folder).filter((one) => FILE_NAME.test(one))) {
      const path = join(folder, name);
      const fd = this.#take(path);
      if (fd === null) continue;
      try {
        await store(linesOf(path));
        unlinkSync(path);
      } finally {
        closeSync(fd);
      }
    }
  }

  /** Closes the files; those that hold records which are not stored stay for `replay`. */
  [Symbol.dispose](): void {
    for (const file of this.#files) {
      if (file.bytes === 0) this.#remove(file);
      else closeSync(file.fd);
    }
    this.#files = [];
  }

  #active(): JournalFile {
    const last = this.#files.at(-1);
    if (last !== undefined && last.bytes < FILE_BYTES_MAX) return last;
    const file = this.#open();
    this.#files.push(file);
    while (this.#bytes > this.#options.bytesMax && this.#files.length > 1) {
      const oldest = this.#files.shift();
      if (oldest === undefined) break;
      this.#remove(oldest);
      this.#options.log.error({ bytes: oldest.bytes }, 'history records are lost: the journal is full');
    }
    return file;
  }

  #open(): JournalFile {
    const path = join(this.#options.folder, `${randomUUID()}.jsonl`);
    const fd = openSync(path, 'ax', 0o600);
    // Another process may have taken the file for one that was left, before it was locked.
    if (!this.#lock(fd) || !isSameFile(fd, path)) {
      closeSync(fd);
      throw new SkeinError('START_FAILED', `${path} was taken by another process`);
    }
    const file = { number: this.#next, path, fd, bytes: 0, isTorn: false };
    this.#next += 1;
    return file;
  }

  /** Opens and locks a file; null when a process that lives writes it. */
  #take(path: string): number | null {
    let fd: number;
    try {
      fd = openSync(path, 'r+');
    } catch {
      return null;
    }
    if (this.#lock(fd) && isSameFile(fd, path)) return fd;
    closeSync(fd);
    return null;
  }

  #remove(file: JournalFile): void {
    this.#bytes -= file.bytes;
    closeSync(file.fd);
    try {
      unlinkSync(file.path);
    } catch (error) {
      this.#options.log.warn({ err: error, path: file.path }, 'a file of the history’s journal cannot be removed');
    }
  }
}

/** The lines of a file that are whole. */
const linesOf = (path: string): readonly string[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'));
