import { open, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolders } from '#shared/storage/make-folders.ts';
import { SkeinError } from '#shared/error.ts';
import type { QueryId } from '#shared/id.ts';
import type { PartitionReport } from '#shared/task/task.ts';
import type { Address } from '../duckdb/library.ts';
import { readBytes } from '../duckdb/memory.ts';
import { freeMessage, LentMessage, messageBytes, type NativeMessage } from '../batch/arrow-message.ts';
import type { Spool } from './spool.ts';

/** A batch of a partition: one FlightData message, in native memory or in a file; its body begins at `bodyOffset` of the message. */
export type StoredBatch = {
  readonly rows: number;
  readonly bytes: number;
  readonly bodyOffset: number;
  readonly at:
    | { readonly kind: 'memory'; readonly start: Address }
    | { readonly kind: 'file'; readonly path: string; readonly offset: number };
};

/** Batches `[start, end)`; an end beyond the last means all. */
export type BatchRange = { readonly start: number; readonly end: number };

/** The end of a task of whose rows, or batches, some were lost or doubled on their way. */
export const miscounted = (given: number, arrived: number): SkeinError =>
  new SkeinError('INTERNAL_ERROR', `rows were lost or doubled on their way: ${given} were given, ${arrived} arrived`);

/** An output with at most this many bytes of messages travels in its task's report, which saves the reader a round trip. */
const CARRIED_BYTES_MAX = 32 * 2 ** 10;

/** Memory that partitions leave to streamed results, as a share of the spool's. */
const PARTITIONS_SHARE = 0.75;

type QuerySpool = { readonly folder: string; diskBytes: number; outputs: number; files: number };

/** The partitioned outputs of all tasks of a worker, and the inputs that it has fetched: memory first, then files. */
export class SpoolStore {
  readonly #folder: string;
  readonly #memory: Spool;
  readonly #diskBytesMax: number;
  readonly #queries = new Map<QueryId, QuerySpool>();
  #folders = 0;
  #diskBytes = 0;

  /** `diskBytesMax` is the limit per query. */
  constructor(options: { readonly folder: string; readonly memory: Spool; readonly diskBytesMax: number }) {
    this.#folder = options.folder;
    this.#memory = options.memory;
    this.#diskBytesMax = options.diskBytesMax;
  }

  get diskBytes(): number {
    return this.#diskBytes;
  }

  /** A new output, to be released by its owner. */
  open(query: QueryId, partitions: number): SpooledOutput {
    const spool = this.#queries.get(query) ?? {
      folder: join(this.#folder, `query-${++this.#folders}`),
      diskBytes: 0,
      outputs: 0,
      files: 0,
    };
    this.#queries.set(query, spool);
    spool.outputs++;
    return new SpooledOutput(partitions, {
      takesMemory: (bytes) => {
        if (this.#memory.bytes + bytes > this.#memory.limitBytes * PARTITIONS_SHARE) return false;
        this.#memory.add(bytes);
        return true;
      },
      freesMemory: (bytes) => this.#memory.add(-bytes),
      takesDisk: (bytes) => {
        if (spool.diskBytes + bytes > this.#diskBytesMax) {
          throw new SkeinError('SPILL_LIMIT', 'what the stages of the query exchange needs more disk than its limit');
        }
        spool.diskBytes += bytes;
        this.#diskBytes += bytes;
      },
      openFile: async () => {
        await makeFolders(spool.folder, { mode: 0o700 });
        const path = join(spool.folder, `${++spool.files}`);
        return { path, handle: await open(path, 'wx+', 0o600) };
      },
      closed: async (bytesOnDisk) => {
        spool.diskBytes -= bytesOnDisk;
        this.#diskBytes -= bytesOnDisk;
        if (--spool.outputs > 0) return;
        if (this.#queries.get(query) === spool) this.#queries.delete(query);
        if (spool.files > 0) await rm(spool.folder, { recursive: true, force: true }).catch(() => undefined);
      },
    });
  }
}

/** The store's services for one output: it accounts for memory and disk, and opens files. */
type Place = {
  takesMemory(bytes: number): boolean;
  freesMemory(bytes: number): void;
  /** @throws SPILL_LIMIT */
  takesDisk(bytes: number): void;
  openFile(): Promise<{ readonly path: string; readonly handle: FileHandle }>;
  closed(bytesOnDisk: number): Promise<void>;
};

type Partition = { readonly batches: StoredBatch[]; rows: number; bytes: number };
type OpenFile = { readonly path: string; readonly handle: FileHandle };

/**
 * The output of one task, in partitions that any number of readers may read any number of times. It is reference-counted: it lives until
 * every holder has released it, and starts with one reference, its creator's.
 */
export class SpooledOutput {
  readonly #place: Place;
  readonly #partitions: readonly Partition[];
  readonly #prologue: Uint8Array[] = [];
  #owners = 1;
  #memoryBytes = 0;
  #diskBytes = 0;
  /** Offset in the file for the next message, in bytes. */
  #fileEnd = 0;
  #file: Promise<OpenFile> | undefined;
  readonly #writes = new Set<Promise<void>>();
  readonly #closed = new AbortController();
  /** Messages of the batches that are in memory. */
  readonly #messages: NativeMessage[] = [];

  constructor(partitions: number, place: Place) {
    this.#place = place;
    this.#partitions = Array.from({ length: partitions }, () => ({ batches: [], rows: 0, bytes: 0 }));
  }

  /** The schema, then the dictionaries: the same for all partitions. */
  get prologue(): readonly Uint8Array[] {
    return this.#prologue;
  }

  addPrologue(message: Uint8Array): void {
    this.#prologue.push(message);
  }

  clearPrologue(): void {
    this.#prologue.length = 0;
  }

  /**
   * Takes ownership of a batch; resolves when it is stored, which is at once for a batch in memory.
   * @throws SPILL_LIMIT, STORAGE_ERROR
   */
  async append(number: number, message: NativeMessage, rows: number): Promise<void> {
    const partition = this.#partitions[number];
    if (this.#owners === 0 || partition === undefined) {
      freeMessage(message);
      return;
    }
    const { bytes, bodyOffset } = message;
    const inMemory = this.#place.takesMemory(bytes);
    partition.rows += rows;
    partition.bytes += bytes;
    if (inMemory) {
      this.#memoryBytes += bytes;
      this.#messages.push(message);
      partition.batches.push({ rows, bytes, bodyOffset, at: { kind: 'memory', start: message.start } });
      return;
    }
    const write = this.#write(partition, message, rows).finally(() => freeMessage(message));
    this.#writes.add(write);
    await write.finally(() => this.#writes.delete(write));
  }

  async #write(partition: Partition, message: NativeMessage, rows: number): Promise<void> {
    const { bytes, bodyOffset } = message;
    this.#place.takesDisk(bytes);
    this.#diskBytes += bytes;
    const offset = this.#fileEnd;
    this.#fileEnd += bytes;
    // The batch gets its position now, although its bytes are not yet written: readers come only when the output is complete.
    const place = partition.batches.push({ rows, bytes, bodyOffset, at: { kind: 'file', path: '', offset } }) - 1;
    try {
      const { path, handle } = await (this.#file ??= this.#place.openFile());
      const { bytesWritten } = await handle.write(messageBytes(message), 0, bytes, offset);
      if (bytesWritten !== bytes) throw new Error('the disk is full');
      partition.batches[place] = { rows, bytes, bodyOffset, at: { kind: 'file', path, offset } };
    } catch (error) {
      throw new SkeinError('STORAGE_ERROR', 'the spool cannot be written', { cause: error });
    }
  }

  /** Reports rows, bytes and batches per partition; a small output's report carries the messages themselves. */
  reports(): PartitionReport[] {
    const filled = this.#partitions.filter(({ rows }) => rows > 0);
    const schemas = filled.length * this.#prologue.reduce((sum, { length }) => sum + length, 0);
    const isCarried = filled.reduce((sum, { bytes }) => sum + bytes, schemas) <= CARRIED_BYTES_MAX;
    return this.#partitions.map(({ rows, bytes, batches }) => {
      const report = { rows, bytes, batches: batches.length };
      const inMemory = batches.flatMap(({ at, bytes: length }) =>
        at.kind === 'memory' ? [readBytes(at.start, length)] : [],
      );
      if (!isCarried || rows === 0 || inMemory.length < batches.length) return report;
      return {
        ...report,
        // Copies: the memory of a batch goes with the output.
        messages: [...this.#prologue, ...inMemory].map((one) => Uint8Array.from(one)),
      };
    });
  }

  /** Batches of a partition; there is none beyond the last. */
  select(number: number, { start, end }: BatchRange): readonly StoredBatch[] {
    return this.#partitions[number]?.batches.slice(start, end) ?? [];
  }

  has(number: number): boolean {
    return this.#partitions[number] !== undefined;
  }

  /** A batch's message for the transport; one in memory is lent. @throws STORAGE_ERROR */
  async read(
    { at, bytes, bodyOffset }: StoredBatch,
    lease: { readonly isOpen: boolean },
  ): Promise<Uint8Array | LentMessage> {
    if (at.kind === 'memory') return new LentMessage({ start: at.start, bytes, bodyOffset }, lease);
    try {
      const file = await this.#file;
      const copy = Buffer.allocUnsafeSlow(bytes);
      const read = await file?.handle.read(copy, 0, bytes, at.offset);
      if (read?.bytesRead !== bytes) throw new Error('the file is shorter than what was written');
      return copy;
    } catch (error) {
      throw new SkeinError('STORAGE_ERROR', 'the spool cannot be read', { cause: error });
    }
  }

  /** Aborts when the output is dropped, so that readers in progress stop: a stalled reader must not keep its memory. */
  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  close(): void {
    this.#closed.abort();
  }

  retain(): this {
    if (this.#owners === 0) throw new Error('invariant: a released output is not retained again');
    this.#owners++;
    return this;
  }

  /** Drops one reference; the last one frees memory and file. Resolves when all of it is gone. */
  async release(): Promise<void> {
    if (--this.#owners > 0) return;
    await Promise.allSettled(this.#writes);
    for (const { batches } of this.#partitions) batches.length = 0;
    for (const message of this.#messages.splice(0)) freeMessage(message);
    this.#place.freesMemory(this.#memoryBytes);
    const file = await this.#file?.catch(() => undefined);
    // A file that cannot be removed now is removed when the worker starts again.
    await file?.handle.close().catch(() => undefined);
    if (file !== undefined) await rm(file.path, { force: true }).catch(() => undefined);
    await this.#place.closed(this.#diskBytes);
  }
}
