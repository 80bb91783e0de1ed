import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { requireReal, type FilePlace } from './file-place.ts';
import { NotAFile } from './storage.ts';

/** A file that is open for reading, and its size when it was opened. */
export class OpenFile implements AsyncDisposable {
  readonly sizeBytes: number;
  readonly #file: FileHandle;

  private constructor(file: FileHandle, sizeBytes: number) {
    this.#file = file;
    this.sizeBytes = sizeBytes;
  }

  /**
   * Opens a local file. A user who may write into a folder may also put a pipe there: opening it would wait for a writer, in one of the few
   * threads that all file access of the process shares.
   * @throws NotAFile, FORBIDDEN behind a symbolic link, and the errors of `open`
   */
  static async open(place: FilePlace): Promise<OpenFile> {
    const { path } = place;
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      await requireReal(file, place);
      const stats = await file.stat();
      if (stats.isFile()) return new OpenFile(file, stats.size);
      throw new NotAFile(path);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Reads bytes `[offset, offset + length)`; fewer at the end of the file as it is, or as it was when it was opened. */
  async read(offset: number, length: number): Promise<Buffer> {
    const wanted = Math.max(0, Math.min(length, this.sizeBytes - offset));
    const buffer = Buffer.allocUnsafeSlow(wanted);
    let done = 0;
    while (done < wanted) {
      const { bytesRead } = await this.#file.read(buffer, done, wanted - done, offset + done);
      if (bytesRead === 0) break;
      done += bytesRead;
    }
    return buffer.subarray(0, done);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#file.close();
  }
}
