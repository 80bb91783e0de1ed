import type { MemoryOptions } from '#coordinator/workload/memory-ledger.ts';
import { must } from '#shared/must.ts';
import type { WorkClass } from '#coordinator/workload/work-class.ts';

/** Reservations of so many batch queries, or their like, fit a small cluster (docs/workload.md, Memory). */
const FIT_BATCH = 16;

/** `kept` is the part that comes from the share that batch queries never get. */
type Hold = { readonly workClass: WorkClass; readonly bytes: number; readonly kept: number };

/**
 * The memory that the queries of a trace hold, counted beside the tree by the rules of docs/workload.md: a query that may use the
 * interactive share takes of it first, and gives all back when it ends.
 */
export class MemoryModel {
  readonly #options: MemoryOptions;
  readonly #totalBytes: number;
  readonly #holds = new Map<string, Hold>();

  constructor(totalBytes: number, options: MemoryOptions) {
    this.#totalBytes = totalBytes;
    this.#options = options;
  }

  get heldBytes(): number {
    return this.#sum(({ bytes }) => bytes);
  }

  /** Memory that one query holds. */
  of(id: string): number {
    return this.#holds.get(id)?.bytes ?? 0;
  }

  /** A query starts with its reservation. */
  start(id: string, workClass: WorkClass): void {
    this.#holds.set(id, this.#larger({ workClass, bytes: 0, kept: 0 }, this.reservation(workClass)));
  }

  /** A query has been allowed `bytes`. */
  grow(id: string, bytes: number): void {
    const hold = must(this.#holds.get(id), `${id} runs`);
    this.#holds.set(id, this.#larger(hold, bytes));
  }

  end(id: string): void {
    this.#holds.delete(id);
  }

  reservation(workClass: WorkClass): number {
    const { reservations } = this.#options;
    return Math.floor(reservations[workClass] * Math.min(1, this.#totalBytes / (FIT_BATCH * reservations.batch)));
  }

  /** Whether a query's reservation fits the memory that its class may use. */
  fits(workClass: WorkClass): boolean {
    const shared = this.#totalBytes - this.#keptBytes - this.#sum(({ bytes, kept }) => bytes - kept);
    const kept = workClass === 'batch' ? 0 : this.#keptFree;
    return Math.max(0, shared) + kept >= this.reservation(workClass);
  }

  /** Whether it fits the interactive share alone, so that it passes a query that waits for shared memory. */
  fitsKept(workClass: WorkClass): boolean {
    return (workClass === 'batch' ? 0 : this.#keptFree) >= this.reservation(workClass);
  }

  #larger({ workClass, bytes: before, kept }: Hold, bytes: number): Hold {
    const taken = workClass === 'batch' ? 0 : Math.min(bytes - before, this.#keptFree);
    return { workClass, bytes, kept: kept + taken };
  }

  get #keptBytes(): number {
    return Math.floor(this.#totalBytes * this.#options.interactiveShare);
  }

  get #keptFree(): number {
    return this.#keptBytes - this.#sum(({ kept }) => kept);
  }

  #sum(of: (hold: Hold) => number): number {
    return this.#holds.values().reduce((sum, hold) => sum + of(hold), 0);
  }
}
