import { SkeinError } from '#shared/error.ts';
import { inputCall } from '../duckdb/input-functions.ts';
import type { CacheableScan } from '../scan/cacheable-scan.ts';
import type { PrintedScan } from '../scan/print-scan.ts';
import type { TaskInstance } from '../duckdb/instance-pool.ts';
import { CachedRows } from './cached-rows.ts';
import { fillColumns } from './fill-columns.ts';
import { columnKey, type RowCache } from './row-cache.ts';

/**
 * The scans of one task that the row cache serves, as table functions of its instance. Those that it could serve, and that were read before,
 * are filled in for the next task by `fill`. The instance must run the task on one core.
 */
export class CachedScans implements Disposable {
  readonly #cache: RowCache;
  readonly #rows = new Map<number, CachedRows>();
  readonly #wanted: CacheableScan[] = [];

  constructor(cache: RowCache, scans: readonly PrintedScan[]) {
    this.#cache = cache;
    for (const [index, { cacheable }] of scans.entries()) {
      if (cacheable === undefined || keysOf(cacheable).some((key) => cache.isRefused(key))) continue;
      const rows = cache.uses.of(CachedRows.find(cache, cacheable));
      if (rows !== undefined) this.#rows.set(index, rows);
      else if (cache.see(keysOf(cacheable))) this.#wanted.push(cacheable);
    }
  }

  /** Whether it does anything for the task or the next one. */
  get isUsed(): boolean {
    return this.servesAny || this.#wanted.length > 0;
  }

  get servesAny(): boolean {
    return this.#rows.size > 0;
  }

  /**
   * Makes the table functions of served scans, whose calls it returns by the scans' indexes. @param firstFunction the number of the first one
   * that the task does not need for its inputs
   */
  open(instance: TaskInstance, firstFunction: number): ReadonlyMap<number, string> {
    const texts = new Map<number, string>();
    for (const [index, rows] of this.#rows) {
      const number = firstFunction + texts.size;
      instance.inputs.set(number, rows);
      texts.set(index, inputCall(number));
    }
    return texts;
  }

  /**
   * Reads the columns of wanted scans into the cache, step by step. What cannot be read so is not tried again: the statement itself may not need
   * the rows that are at fault.
   * @throws QUERY_CANCELLED
   */
  *fill(instance: TaskInstance): Generator<void> {
    for (const scan of this.#wanted) {
      const isMissing = ({ key }: { readonly key: string }): boolean =>
        scan.reads.some((place) => this.#cache.column(columnKey(key, scan.columns[place]?.sql ?? '')) === undefined);
      try {
        if (yield* fillColumns(this.#cache, scan, scan.groups.filter(isMissing), instance.connection)) continue;
      } catch (error) {
        if (SkeinError.of(error).code === 'QUERY_CANCELLED') throw error;
      }
      this.#cache.refuse(keysOf(scan));
    }
  }

  /** Whether the statement failed because of the cache alone, so that it has to run without. Its reads are not served any more. */
  missed(scans: readonly PrintedScan[]): boolean {
    const missed = [...this.#rows].filter(([, rows]) => rows.hasMissed);
    for (const [index] of missed) {
      const { cacheable } = scans[index] ?? {};
      if (cacheable !== undefined) this.#cache.refuse(keysOf(cacheable));
    }
    return missed.length > 0;
  }

  [Symbol.dispose](): void {
    for (const rows of this.#rows.values()) rows[Symbol.dispose]();
  }
}

/** The reads of a scan: its row groups with the columns that it reads of them. */
const keysOf = ({ groups, reads }: CacheableScan): readonly string[] => {
  const columns = reads.join();
  return groups.map(({ key }) => `${key} ${columns}`);
};
