import { randomUUID } from 'node:crypto';
import { open as openLocal, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ByteRange, ScanFile } from '#shared/iceberg/scan-file.ts';
import type { TaskSpec } from '#shared/task/task.ts';
import { SkeinError } from '#shared/error.ts';
import { makeFolders } from '#shared/storage/make-folders.ts';
import { PRIVATE_MODE } from '#shared/storage/private-folder.ts';
import type { OpenScanned } from '../scan/readable-path.ts';
import type { EvenLine } from './even-lines.ts';
import type { FileText } from './file-text.ts';

/** Bytes of a file that are in memory at once. */
const CHUNK_BYTES = 1024 * 1024;
const NEWLINE = 0x0a;

/** A part of a file: the lines that begin in it. */
export type RangeFile = {
  /** Where a copy of the part lies. */
  readonly path: string;
  readonly file: ScanFile;
  /** From the begin of the first line to the end of the last. */
  readonly bytes: ByteRange;
};

/** A text file, or a part of one, as DuckDB reads it. */
export type ReadyText = {
  readonly path: string;
  /** The bytes of the same text, for other readers. */
  readonly text: FileText;
  /** The copy of a part of the file, or of one with uneven lines or escaped texts of NULL; undefined for the file itself. */
  readonly copy: RangeFile | undefined;
  /** CSV: how the lines end; null when only DuckDB can say what is wrong with the file. */
  readonly newLine: EvenLine | null;
  /** CSV whose records may have more fields than there are columns: the most that one has. */
  readonly fields: number;
  /** JSON: there may be numbers that lose digits in DuckDB's reader. */
  readonly isLong: boolean;
};

type OpenedFile = { readonly sizeBytes: number; read(offset: number, length: number): Promise<Buffer> };

/**
 * Copies of the parts of text files that a task reads, as DuckDB reads whole files only, and of those that it misreads. They lie in a folder of the tenant, which the task's
 * instance may read, and go with the task.
 */
export class RangeFiles implements AsyncDisposable {
  readonly folder: string;
  readonly #bytesMax: number;
  readonly #made = new Map<string, RangeFile>();
  #bytes = 0;
  readonly #ready = new Map<ScanFile, Promise<ReadyText | null>>();

  /** @param folder of the slot */
  constructor(folder: string, { tenant, spillLimitBytes }: Pick<TaskSpec, 'tenant' | 'spillLimitBytes'>) {
    this.folder = join(folder, encodeURIComponent(tenant));
    this.#bytesMax = spillLimitBytes;
  }

  /** The folders that hold copies. */
  get folders(): readonly string[] {
    return this.#made.size === 0 ? [] : [this.folder];
  }

  /** Copies the lines that begin in the file's range. @returns null when there is none @throws SPILL_LIMIT, INVALID_INPUT_FILE */
  async add(
    signal: AbortSignal,
    file: ScanFile,
    { start, end }: ByteRange,
    { open, lineBytesMax }: { readonly open: OpenScanned; readonly lineBytesMax: number },
  ): Promise<RangeFile | null> {
    await using opened = await open(file.path).openFile(file.path, 0);
    const begin = await lineStart(opened, start, lineBytesMax);
    const stop = await lineStart(opened, end, lineBytesMax);
    if (begin >= stop) return null;
    const read = async function* (): AsyncGenerator<Uint8Array> {
      for (let at = begin; at < stop; at += CHUNK_BYTES) yield await opened.read(at, Math.min(CHUNK_BYTES, stop - at));
    };
    return await this.write(signal, { file, bytes: { start: begin, end: stop } }, read());
  }

  /** Writes a copy of a file, or of its part, whose bytes may be other ones. @throws SPILL_LIMIT, what `chunks` throws */
  async write(
    signal: AbortSignal,
    { file, bytes }: Omit<RangeFile, 'path'>,
    chunks: AsyncIterable<Uint8Array>,
  ): Promise<RangeFile> {
    const made: RangeFile = { path: join(this.folder, `${randomUUID()}.part`), file, bytes };
    this.#made.set(made.path, made);
    await makeFolders(this.folder, { mode: PRIVATE_MODE });
    await using copy = await openLocal(made.path, 'wx', PRIVATE_FILE_MODE);
    for await (const chunk of chunks) {
      signal.throwIfAborted();
      this.#bytes += chunk.length;
      if (this.#bytes > this.#bytesMax) {
        throw new SkeinError(
          'SPILL_LIMIT',
          `copies of the stage's files take more than ${this.#bytesMax} bytes of the worker's disk`,
        );
      }
      await copy.writeFile(chunk);
    }
    return made;
  }

  /** A file as DuckDB reads it, which is made ready once. */
  once(file: ScanFile, make: () => Promise<ReadyText | null>): Promise<ReadyText | null> {
    const found = this.#ready.get(file) ?? make();
    this.#ready.set(file, found);
    return found;
  }

  /** The part whose copy lies at a path. */
  find(path: string): RangeFile | undefined {
    return this.#made.get(path);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#made.keys()].map((path) => rm(path, { force: true })));
  }
}

const PRIVATE_FILE_MODE = 0o600;

/** Where the first line begins at or behind a byte; the file's size when none does. @throws INVALID_INPUT_FILE for a line that is too long */
async function lineStart(file: OpenedFile, at: number, lineBytesMax: number): Promise<number> {
  if (at === 0) return 0;
  for (let from = at - 1; from < file.sizeBytes; from += CHUNK_BYTES) {
    if (from - at > lineBytesMax)
      throw new SkeinError('INVALID_INPUT_FILE', `a line of a file has more than ${lineBytesMax} bytes`);
    const found = (await file.read(from, CHUNK_BYTES)).indexOf(NEWLINE);
    if (found !== -1) return from + found + 1;
  }
  return file.sizeBytes;
}

/** The lines of the file before a part. */
export async function linesBefore({ file, bytes: { start: begin } }: RangeFile, open: OpenScanned): Promise<number> {
  await using opened = await open(file.path).openFile(file.path, 0);
  let lines = 0;
  for (let from = 0; from < begin; from += CHUNK_BYTES) {
    const chunk = await opened.read(from, Math.min(CHUNK_BYTES, begin - from));
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) lines += 1;
  }
  return lines;
}
