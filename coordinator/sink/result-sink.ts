/** A column of a result as clients see it. */
export type OutputColumn = { readonly name: string; readonly typeName: string };

export type ResultSummary = { readonly rowCount: number; readonly elapsedMs: number };

/**
 * Receives a statement's result; one implementation per protocol. Calls come in the order start, rows..., finish; nothing after an
 * error. Rows are JSON texts, one after the other, a comma before each: `,[1,"a"],[2,"b"]`.
 */
export interface ResultSink {
  /** Begins the result; a result that is not `committed` may begin again. */
  start(columns: readonly OutputColumn[]): void;
  /**
   * Resolves when more rows may come, so a slow client slows the worker. @throws RESULT_TOO_LARGE, QUERY_CANCELLED when the client is gone.
   */
  rows(bytes: Buffer): Promise<void> | undefined;
  finish(summary: ResultSummary): void;
  /** The client has seen a part: an error can no longer be answered, nor the statement run again. */
  readonly committed: boolean;
}
