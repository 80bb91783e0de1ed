/**
 * Called for each term of leading; says when the term has begun, and resolves when its work has ended, which it must soon after `lost` is
 * aborted.
 */
export type Lead = (lost: AbortSignal, started: () => void) => Promise<void>;

/** A candidate among the processes of its kind: at most one leads, as far as leases can tell; epochs fence the others. */
export interface Election {
  /**
   * Resolves when the first term of a sole candidate has started; with other candidates it resolves without waiting. Rejects when the term
   * cannot start.
   */
  readonly started: Promise<void>;
  /** Gives the lead up, or stops to want it. */
  close(): Promise<void>;
}
