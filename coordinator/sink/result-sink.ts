import type { FlightData } from '#shared/flight/flight-data.ts';
import type { SqlType } from '../plan/sql-type.ts';

/** The form of rows on their way to the client: JSON text that DuckDB prints, or Arrow record batches as they are. */
export type Encoding = 'json' | 'arrow';

/** A column of a result as clients see it. */
export type OutputColumn = { readonly name: string; readonly typeName: string; readonly type: SqlType };

/** The shape of a result, which planning fixes. `timeZone`: the zone of its timestamps with time zone. */
export type ResultShape = { readonly columns: readonly OutputColumn[]; readonly timeZone: string };

/**
 * Some rows of a result. As JSON, `body` holds texts, one after the other, a comma before each: `,[1,"a"],[2,"b"]`. As Arrow, `header` is
 * the message of a record batch, and `body` its buffers.
 */
export type ResultBatch = { readonly rows: number; readonly header: Buffer | null; readonly body: Buffer };

/** Reads the messages of one task, in their order; undefined for those without rows. */
export interface BatchReader {
  read(message: FlightData<Buffer>): ResultBatch | undefined;
}

export type ResultSummary = { readonly rowCount: number; readonly elapsedMs: number };

/**
 * Receives a statement's result; one implementation per protocol. Calls come in the order start, batches..., finish; nothing after an
 * error.
 */
export interface ResultSink {
  /** The form in which it takes batches. */
  readonly encoding: Encoding;
  /** Begins the result; a result that is not `committed` may begin again. */
  start(shape: ResultShape): void;
  /**
   * Resolves when more rows may come, so a slow client slows the worker. @throws RESULT_TOO_LARGE, QUERY_CANCELLED when the client is gone.
   */
  batch(batch: ResultBatch): Promise<void> | undefined;
  /** From now on rows wait for `release`: the client sees none of them before, and the result may begin again. */
  hold(): void;
  /** Ends the wait of the rows; resolves when the client has taken what does not fit into the holdback. @throws QUERY_CANCELLED */
  release(): Promise<void>;
  finish(summary: ResultSummary): void;
  /** The client has seen a part: an error can no longer be answered, nor the statement run again. */
  readonly committed: boolean;
}
