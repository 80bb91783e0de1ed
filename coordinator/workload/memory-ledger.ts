import type { WorkClass } from './work-class.ts';

/** Memory that a query of each class reserves at admission on a cluster that has enough (`coordinator.memory_reservation`). */
type Reservations = Readonly<Record<WorkClass, number>>;

export type MemoryOptions = {
  readonly reservations: Reservations;
  /** Share of the workers' memory that batch queries never get. */
  readonly interactiveShare: number;
};

/** Reservations shrink on a small cluster so that at least this many batch queries, or their like, fit its memory. */
const FIT_BATCH_MIN = 16;
/** Share of the free memory that one growth may take: the next query has to find some, too. */
const GROWTH_SHARE = 1 / 2;
/** Share of all memory that growth leaves to the reservations of other queries. */
const GROWTH_LEFT = 1 / 8;
/** Up to this size a query grows by whatever is free, because with less it would spill from its first rows on. */
const GROWTH_FLOOR_BYTES = 128 * 2 ** 20;

/** Memory that one query holds, in bytes; `kept` is the part that comes from the interactive share. */
export type MemoryHold = { readonly workClass: WorkClass; bytes: number; kept: number };

/**
 * Accounts the memory that running queries have reserved of the workers' memory. Each query reserves a little at admission, and grows by
 * permission up to the limit of its class. A part of the memory is kept from batch queries. While the number of workers is zero nothing is
 * accounted: the queries wait for a worker.
 */
export class MemoryLedger {
  readonly #options: MemoryOptions;
  #totalBytes = 0;
  #generalHeld = 0;
  #keptHeld = 0;

  constructor(options: MemoryOptions) {
    this.#options = options;
  }

  get totalBytes(): number {
    return this.#totalBytes;
  }

  get heldBytes(): number {
    return this.#generalHeld + this.#keptHeld;
  }

  /** Sets the memory of all workers. */
  resize(totalBytes: number): void {
    this.#totalBytes = totalBytes;
  }

  /** Bytes that a query reserves at admission when it may hold at most `limitBytes`. */
  reservation(workClass: WorkClass, limitBytes: number): number {
    const { reservations } = this.#options;
    const scale = Math.min(1, this.#totalBytes / (FIT_BATCH_MIN * reservations.batch));
    const bytes = this.#totalBytes === 0 ? 0 : Math.floor(reservations[workClass] * scale);
    return Math.min(bytes, limitBytes);
  }

  /** Returns the free memory for a class. `isClaimed`: a query in turn waits for the part that all classes share. */
  freeFor(workClass: WorkClass, isClaimed: boolean): number {
    const general = isClaimed ? 0 : Math.max(0, this.#generalBytes - this.#generalHeld);
    return workClass === 'batch' ? general : general + this.#keptFree;
  }

  /** Takes memory, whether it is free or not: `freeFor` says what is. The part that is kept from batch queries goes first. */
  take(hold: MemoryHold, bytes: number): void {
    const kept = hold.workClass === 'batch' ? 0 : Math.min(bytes, this.#keptFree);
    hold.bytes += bytes;
    hold.kept += kept;
    this.#keptHeld += kept;
    this.#generalHeld += bytes - kept;
  }

  /** Gives back `bytes` of a hold: what all classes share goes back first. */
  giveBack(hold: MemoryHold, bytes: number): void {
    const general = Math.min(bytes, hold.bytes - hold.kept);
    hold.bytes -= bytes;
    hold.kept -= bytes - general;
    this.#generalHeld -= general;
    this.#keptHeld -= bytes - general;
  }

  /** Grows a hold towards `wantedBytes`, by at most half of what is free for it; returns the bytes that it has then. */
  grow(hold: MemoryHold, wantedBytes: number, isClaimed: boolean): number {
    if (this.#totalBytes === 0) return wantedBytes;
    const free = this.freeFor(hold.workClass, isClaimed);
    const part = Math.floor((free - this.#totalBytes * GROWTH_LEFT) * GROWTH_SHARE);
    const most = Math.max(part, Math.min(free, GROWTH_FLOOR_BYTES - hold.bytes));
    const more = Math.max(0, Math.min(wantedBytes - hold.bytes, most));
    this.take(hold, more);
    return hold.bytes;
  }

  get #keptBytes(): number {
    return Math.floor(this.#totalBytes * this.#options.interactiveShare);
  }

  get #generalBytes(): number {
    return this.#totalBytes - this.#keptBytes;
  }

  get #keptFree(): number {
    return Math.max(0, this.#keptBytes - this.#keptHeld);
  }
}
