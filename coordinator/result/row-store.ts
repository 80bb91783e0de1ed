import type { ByteBudget } from '#shared/byte-budget.ts';
import { must } from '#shared/must.ts';
import type { ResultBatch } from '../sink/result-sink.ts';
import { SpoolFile } from '../sink/spool-file.ts';

export type RowStoreOptions = {
  /** Memory for the batches of all stores; the rest lies on disk. */
  readonly memory: ByteBudget;
  /** The tenant whose share of the memory the batches take. */
  readonly owner: string;
  readonly folder: string;
};

type Entry = {
  /** The number of its first row. */
  readonly firstRow: number;
  readonly rows: number;
  readonly bytes: number;
  readonly headerBytes: number | null;
  /** The batch itself, or its place in the file. */
  readonly at: ResultBatch | number;
};

/** A buffer of which less than this share is used is copied, because it would keep all of the memory around it. */
const USED_SHARE_MIN = 0.5;

/** Batches of one result that can be read in any order and any number of times: in memory as long as there is room, else in a file. */
export class RowStore {
  readonly #options: RowStoreOptions;
  readonly #file: SpoolFile;
  #entries: Entry[] = [];
  #rows = 0;
  #bytes = 0;
  #memoryBytes = 0;

  constructor(options: RowStoreOptions) {
    this.#options = options;
    this.#file = new SpoolFile(options.folder);
  }

  /** Batches that are there. */
  get length(): number {
    return this.#entries.length;
  }

  get rows(): number {
    return this.#rows;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Resolves when the batch is stored; it can be read at once. @throws STORAGE_FULL, STORAGE_ERROR */
  add(batch: ResultBatch): Promise<void> | undefined {
    const { memory, owner } = this.#options;
    const { rows, header, body } = batch;
    const bytes = batchBytes(batch);
    const entry = { firstRow: this.#rows, rows, bytes, headerBytes: header?.length ?? null };
    this.#rows += rows;
    this.#bytes += bytes;
    if (memory.take(owner, bytes)) {
      this.#memoryBytes += bytes;
      this.#entries.push({ ...entry, at: { rows, header: header === null ? null : own(header), body: own(body) } });
      return undefined;
    }
    this.#entries.push({ ...entry, at: this.#file.lengthBytes });
    return this.#file.append(header === null ? [body] : [header, body]);
  }

  /** The batch of this number, from 0. @throws STORAGE_ERROR */
  async batch(index: number): Promise<ResultBatch> {
    const { rows, bytes, headerBytes, at } = must(this.#entries[index], 'there is such a batch');
    if (typeof at !== 'number') return at;
    const read = await this.#file.readAt(at, bytes);
    if (headerBytes === null) return { rows, header: null, body: read };
    return { rows, header: read.subarray(0, headerBytes), body: read.subarray(headerBytes) };
  }

  /** The number of the batch that has this row, and of its first row; undefined when there is no such row. */
  find(row: number): { readonly index: number; readonly firstRow: number } | undefined {
    if (row < 0 || row >= this.#rows) return undefined;
    let [low, high] = [0, this.#entries.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (must(this.#entries[middle], 'it is within').firstRow <= row) low = middle;
      else high = middle - 1;
    }
    return { index: low, firstRow: must(this.#entries[low], 'it is within').firstRow };
  }

  /** Forgets all batches. */
  clear(): void {
    this.#options.memory.give(this.#options.owner, this.#memoryBytes);
    this.#entries = [];
    this.#rows = 0;
    this.#bytes = 0;
    this.#memoryBytes = 0;
    this.#file.clear();
  }

  close(): void {
    this.clear();
    this.#file.close();
  }
}

export const batchBytes = ({ header, body }: ResultBatch): number => (header?.length ?? 0) + body.length;

const own = (bytes: Buffer): Buffer =>
  bytes.length < bytes.buffer.byteLength * USED_SHARE_MIN ? Buffer.from(bytes) : bytes;
