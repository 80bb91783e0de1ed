/** The transaction of a statement's session. */
export interface SessionTransactions {
  /** @throws IN_TRANSACTION, NOT_SUPPORTED without a named session, QUEUE_FULL, CATALOG_UNAVAILABLE */
  begin(mode: { readonly mayWrite: boolean }): Promise<void>;
  /** @throws NO_TRANSACTION, TRANSACTION_FAILED, TRANSACTION_BUSY, COMMIT_CONFLICT, COMMIT_STATE_UNKNOWN */
  commit(): Promise<void>;
  /** Does nothing when there is none. */
  rollBack(): Promise<void>;
  /** @throws NO_TRANSACTION, TRANSACTION_TOO_LARGE */
  savepoint(name: string): void;
  /** @throws NO_TRANSACTION, SAVEPOINT_NOT_FOUND */
  release(name: string): void;
  /** Goes back to a savepoint, also after an error. @throws NO_TRANSACTION, SAVEPOINT_NOT_FOUND, TRANSACTION_FAILED when nothing is left of it */
  rollBackTo(name: string): Promise<void>;
}
