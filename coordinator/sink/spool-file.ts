import { randomUUID } from 'node:crypto';
import { open, unlink, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { SkeinError } from '#shared/error.ts';
import { makeFolders } from '#shared/storage/make-folders.ts';

/** Bytes that are read at once. */
const READ_BYTES = 256 * 1024;

/** Pieces that are written as they are; more of them become one, for a write takes so many. */
const PIECES_MAX = 1_024;

/** Bytes that wait on disk, in a file that has no name once it is open: it goes with its process, too. */
export class SpoolFile {
  readonly #folder: string;
  /** Calls run one after the other. */
  #last: Promise<unknown> = Promise.resolve();
  #file: FileHandle | undefined;
  #lengthBytes = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  get lengthBytes(): number {
    return this.#lengthBytes;
  }

  /** Forgets what it has. */
  clear(): void {
    this.#lengthBytes = 0;
  }

  /** Nobody changes the pieces until they are written. @throws STORAGE_FULL, STORAGE_ERROR */
  append(pieces: readonly Uint8Array[]): Promise<void> {
    const at = this.#lengthBytes;
    this.#lengthBytes += pieces.reduce((sum, { length }) => sum + length, 0);
    return this.#next(async () => {
      this.#file ??= await this.#open();
      await writeAll(this.#file, pieces, at);
    });
  }

  /** @throws STORAGE_ERROR */
  async *read(): AsyncGenerator<Buffer, void> {
    for (let at = 0; at < this.#lengthBytes;) {
      const piece = await this.#some(at, Math.min(READ_BYTES, this.#lengthBytes - at));
      at += piece.length;
      yield piece;
    }
  }

  /** A part of what it has. @throws STORAGE_ERROR */
  async readAt(at: number, length: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for (let done = 0; done < length;) {
      const piece = await this.#some(at + done, length - done);
      done += piece.length;
      pieces.push(piece);
    }
    const [first = Buffer.alloc(0)] = pieces;
    return pieces.length > 1 ? Buffer.concat(pieces) : first;
  }

  /** At least a byte, at most `length`. */
  async #some(at: number, length: number): Promise<Buffer> {
    const piece = Buffer.alloc(length);
    const read = await this.#next(async () => this.#file?.read(piece, 0, length, at));
    const bytesRead = read?.bytesRead ?? 0;
    if (bytesRead === 0) throw new SkeinError('STORAGE_ERROR', 'rows that waited on disk are gone');
    return piece.subarray(0, bytesRead);
  }

  close(): void {
    // Best effort: the file has no name.
    this.#next(async () => {
      await this.#file?.close();
      this.#file = undefined;
    }).catch(() => undefined);
  }

  async #open(): Promise<FileHandle> {
    await makeFolders(this.#folder);
    const path = join(this.#folder, randomUUID());
    const file = await open(path, 'wx+', 0o600);
    await unlink(path);
    return file;
  }

  #next<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work).catch((error: unknown) => {
      const isFull = (error as NodeJS.ErrnoException).code === 'ENOSPC';
      throw new SkeinError(isFull ? 'STORAGE_FULL' : 'STORAGE_ERROR', 'the rows cannot wait on disk', { cause: error });
    });
    this.#last = done.catch(() => undefined);
    return done;
  }
}

/** Writes pieces one behind the other, without a copy of them. */
async function writeAll(file: FileHandle, pieces: readonly Uint8Array[], at: number): Promise<void> {
  let left = pieces.length > PIECES_MAX ? [Buffer.concat(pieces)] : pieces.filter(({ length }) => length > 0);
  let position = at;
  while (left.length > 0) {
    const { bytesWritten } = await file.writev(left, position);
    position += bytesWritten;
    left = behind(left, bytesWritten);
  }
}

/** The pieces without their first bytes. */
function behind(pieces: readonly Uint8Array[], bytes: number): Uint8Array[] {
  let skipped = 0;
  return pieces.flatMap((piece) => {
    const rest = piece.subarray(Math.max(0, Math.min(piece.length, bytes - skipped)));
    skipped += piece.length;
    return rest.length > 0 ? [rest] : [];
  });
}
