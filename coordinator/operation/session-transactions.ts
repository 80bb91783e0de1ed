/** The transaction of a statement's session. */
export interface SessionTransactions {
  /** @throws IN_TRANSACTION, NOT_SUPPORTED without a named session, QUEUE_FULL, CATALOG_UNAVAILABLE */
  begin(mode: { readonly mayWrite: boolean }): Promise<void>;
  /** @throws NO_TRANSACTION, TRANSACTION_FAILED, TRANSACTION_BUSY, COMMIT_CONFLICT, COMMIT_STATE_UNKNOWN */
  commit(): Promise<void>;
  /** Does nothing when there is none. */
  rollBack(): Promise<void>;
  isInside(): boolean;
  /** Whether what runs now may write. @param byDefault outside of a transaction */
  mayWrite(byDefault: boolean): boolean;
  /** Has the transaction only read; one that only reads stays so. @throws NO_TRANSACTION, READ_ONLY_TRANSACTION */
  setMode(mode: { readonly mayWrite: boolean }): void;
  /** @throws NO_TRANSACTION, TRANSACTION_TOO_LARGE */
  savepoint(name: string): void;
  /** @throws NO_TRANSACTION, SAVEPOINT_NOT_FOUND */
  release(name: string): void;
  /** Goes back to a savepoint, also after an error. @throws NO_TRANSACTION, SAVEPOINT_NOT_FOUND, TRANSACTION_FAILED when nothing is left of it */
  rollBackTo(name: string): Promise<void>;
}
