import { MemoryUses } from '#shared/memory-uses.ts';
import { LRUCache } from 'lru-cache';
import type { CachedColumn } from './cached-column.ts';
import type { CachedShape } from './cached-shape.ts';

/** Reads of a row group that are remembered because there was one, and those that are not to be served. A read is of certain columns. */
const SEEN_MAX = 8_192;
const REFUSED_MAX = 8_192;
const SHAPES_MAX = 256;
/** One column of a row group takes at most 1/COLUMN_SHARE of the cache. */
const COLUMN_SHARE = 8;

/**
 * Decoded columns of the row groups that small scans read again and again: reading three columns of 124,000 rows from a file takes 3 ms, a scan of
 * the same rows in memory a tenth of that. Files of a table never change once written, so nothing here becomes old. A column is kept
 * when a second scan reads the same columns of its row group; what was read longest ago leaves first. One per slot's thread.
 */
export class RowCache {
  /** Bytes that one column of a row group may take; 0 when nothing is kept. */
  readonly columnBytesMax: number;
  /** By row group and expression (`columnKey`). */
  readonly #columns: LRUCache<string, CachedColumn>;
  readonly #shapes = new LRUCache<string, CachedShape>({ max: SHAPES_MAX, dispose: (shape) => shape.release() });
  readonly #seen = new LRUCache<string, true>({ max: SEEN_MAX });
  readonly #refused = new LRUCache<string, true>({ max: REFUSED_MAX });

  /** Counts the scans that it serves, and could. */
  readonly uses: MemoryUses;

  /** @param bytesMax 0 = nothing is kept */
  constructor(bytesMax: number, uses = new MemoryUses()) {
    this.uses = uses;
    this.columnBytesMax = Math.floor(bytesMax / COLUMN_SHARE);
    this.#columns = new LRUCache({
      maxSize: Math.max(1, bytesMax),
      sizeCalculation: ({ bytes }) => bytes,
      dispose: (column) => column.release(),
    });
  }

  get bytes(): number {
    return this.#columns.calculatedSize;
  }

  column(key: string): CachedColumn | undefined {
    return this.#columns.get(key);
  }

  /** Takes over the caller's hold of a column; false when it is too large to be kept. */
  putColumn(key: string, column: CachedColumn): boolean {
    const isSmall = column.bytes <= this.columnBytesMax;
    if (isSmall) this.#columns.set(key, column);
    else column.release();
    return isSmall;
  }

  shape(key: string): CachedShape | undefined {
    return this.#shapes.get(key);
  }

  /** Takes over the caller's hold of a shape. */
  putShape(key: string, shape: CachedShape): void {
    this.#shapes.set(key, shape);
  }

  /** Says whether reads of row groups are worth being served: each came before. Remembers them. */
  see(reads: readonly string[]): boolean {
    if (this.columnBytesMax === 0) return false;
    const wereSeen = reads.every((read) => this.#seen.has(read));
    for (const read of reads) this.#seen.set(read, true);
    return wereSeen;
  }

  /** Says that these reads are never to be served. */
  refuse(reads: readonly string[]): void {
    for (const read of reads) this.#refused.set(read, true);
  }

  isRefused(read: string): boolean {
    return this.#refused.has(read);
  }

  /** Drops everything; what tasks hold is freed at their end. */
  clear(): void {
    this.#columns.clear();
    this.#shapes.clear();
  }
}

export const columnKey = (group: string, sql: string): string => `${group} ${sql}`;
