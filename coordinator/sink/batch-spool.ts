import type { ResultBatch } from './result-sink.ts';
import { SpoolFile } from './spool-file.ts';

type Entry = {
  readonly at: number;
  readonly rows: number;
  readonly headerBytes: number | null;
  readonly bytes: number;
};

/** Batches that wait on disk, first in, first out. Only their lengths are in memory. */
export class BatchSpool {
  readonly #file: SpoolFile;
  #entries: Entry[] = [];

  constructor(folder: string) {
    this.#file = new SpoolFile(folder);
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  /** Bytes of the batches that wait. */
  get bytes(): number {
    return this.#entries.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** @throws STORAGE_FULL, STORAGE_ERROR */
  async push({ rows, header, body }: ResultBatch): Promise<void> {
    const at = this.#file.lengthBytes;
    const pieces = header === null ? [body] : [header, body];
    const written = this.#file.append(pieces);
    const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
    this.#entries.push({ at, rows, headerBytes: header?.length ?? null, bytes });
    await written;
  }

  /** Takes the first batch; undefined when none waits. @throws STORAGE_ERROR */
  async shift(): Promise<ResultBatch | undefined> {
    const entry = this.#entries.shift();
    if (entry === undefined) return undefined;
    const { at, rows, headerBytes, bytes } = entry;
    const read = await this.#file.readAt(at, bytes);
    // The file begins anew when all of it has been read.
    if (this.isEmpty && this.#file.lengthBytes === at + bytes) this.#file.clear();
    if (headerBytes === null) return { rows, header: null, body: read };
    return { rows, header: read.subarray(0, headerBytes), body: read.subarray(headerBytes) };
  }

  clear(): void {
    this.#entries = [];
    this.#file.clear();
  }

  close(): void {
    this.#file.close();
  }
}
