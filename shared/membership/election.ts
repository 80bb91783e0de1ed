/**
 * Called for each term of leadership. It calls `started` when the term has begun, and resolves when its work has ended, which must be soon
 * after `lost` is aborted.
 */
export type Lead = (lost: AbortSignal, started: () => void) => Promise<void>;

/** A candidate among the processes of its kind. At most one leads, as far as leases can guarantee it; epochs fence the others. */
export interface Election {
  /**
   * Resolves when the first term of a sole candidate has started; with other candidates it resolves without waiting. Rejects when the term
   * cannot start.
   */
  readonly started: Promise<void>;
  /** Gives up the lead or the candidacy. */
  close(): Promise<void>;
}
