import type { StoreCredential } from './credential.ts';

/** The signal, keys and repeats that a statement or task lends to the storages that it opens. */
export type StorageUse = {
  /** Ends requests, and the waits between them. */
  readonly signal?: AbortSignal;
  /** Gives another key in place of one that ends soon, or that the store has refused. @throws STORAGE_ERROR */
  readonly renew?: (credential: StoreCredential) => Promise<StoreCredential>;
  /** The repeats of all its requests. */
  readonly repeats?: RepeatBudget;
  /** Called when a store may have begun an upload whose answer was lost: only the catalog finds it (`AbortUploads`). */
  readonly lostUpload?: () => void;
};

/** Repeats that a statement or task has to begin with, and at most. */
const REPEATS_MAX = 200;
/** The part of a repeat that each answered request gives back. */
const GIVEN_BACK = 0.25;

/**
 * How often a statement or task sends requests again, over all of them: a store that refuses one in ten costs a little time, and one that
 * refuses most ends the statement, which would else repeat each of thousands of requests to the last.
 */
export class RepeatBudget {
  #left = REPEATS_MAX;

  /** Takes a repeat; false when there is none left. */
  take(): boolean {
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }

  /** A request was answered. */
  answered(): void {
    this.#left = Math.min(REPEATS_MAX, this.#left + GIVEN_BACK);
  }
}
