/**
 * Called for each term of leadership. It calls `started` when the term has begun, and resolves when its work has ended, which must be soon
 * after `lost` is aborted.
 */
export type Lead = (lost: AbortSignal, started: () => void) => Promise<void>;

/** A process that may lead. */
export type Candidate = {
  readonly id: string;
  /** The address under which clients reach it. */
  readonly url: string;
};

/**
 * A lease on the lead beside that of etcd, kept elsewhere. A term begins with both; it goes on while either is renewed, and the next one
 * begins when both have ended.
 */
export interface LeadProof {
  /** Takes the lease when nobody else holds it; `force` takes it from whoever does. @throws when its place does not answer */
  take(force: boolean): Promise<boolean>;
  /** False when another one has taken it. @throws when its place does not answer */
  renew(): Promise<boolean>;
  /** The one that holds the lease now; undefined when nobody does. @throws when its place does not answer */
  holder(): Promise<Candidate | undefined>;
  /** Never throws. */
  release(): Promise<void>;
}

/** Says whether a candidate would be of use as leader. */
export interface Fitness {
  /** Whether it may take the lead now. */
  isFit(): boolean;
  /** Whether it gives up the lead, because another candidate is fit and it is not. */
  yields(): boolean;
}

/** A candidate among the processes of its kind. At most one leads, as far as leases can guarantee it; epochs fence the others. */
export interface Election {
  /**
   * Resolves when the first term of a sole candidate has started; with other candidates it resolves without waiting. Rejects when the term
   * cannot start.
   */
  readonly started: Promise<void>;
  /** The other candidate that leads, as last heard; undefined when none is known. */
  leader(): Candidate | undefined;
  /** Lets another candidate lead at once, while the work of this one's term goes on until `close`. It does not lead again. */
  handOver(): Promise<void>;
  /** Gives up the lead or the candidacy. */
  close(): Promise<void>;
}
