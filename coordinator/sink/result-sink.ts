import type { FlightData } from '#shared/flight/flight-data.ts';
import type { PostgresType } from '../binding/pg-types.ts';
import type { RelationColumn } from '../binding/relation-column.ts';
import type { SqlType } from '../plan/sql-type.ts';
import type { ColumnForms } from './formed-rows.ts';

/**
 * The form of rows on their way to the client: JSON text that DuckDB prints, or Arrow record batches: of the rows as they are, or with a
 * form for each column.
 */
export type Encoding = 'json' | 'arrow' | ColumnForms;

/** A column of a result as clients see it. */
export type OutputColumn = {
  readonly name: string;
  readonly typeName: string;
  readonly type: SqlType;
  /** Its type in Postgres, where that is not what `type` says. */
  readonly postgres?: PostgresType;
  /** The column of a table or view that it is. */
  readonly origin?: RelationColumn;
  /** A moment that Skein tells itself (in SHOW, DESCRIBE): its JSON is ISO 8601 in UTC, not as DuckDB prints it in the session's zone. */
  readonly isMoment?: true;
};

/** The rows of a result, which planning fixes. `timeZone`: the zone of its timestamps with time zone. */
export type RowShape = { readonly columns: readonly OutputColumn[]; readonly timeZone: string };

/**
 * The kind of a statement's result. `tag` names the statement, as Postgres' command tags do: `SELECT`, `INSERT`, `CREATE TABLE`.
 */
export type ResultShape =
  /** Rows; those of RETURNING come with the number of changed rows, too. */
  | ({ readonly kind: 'rows'; readonly tag: string } & RowShape)
  /** No rows, but how many have changed. */
  | { readonly kind: 'count'; readonly tag: string }
  /** Neither. `status` is the tag, with what else there is to say. */
  | { readonly kind: 'nothing'; readonly tag: string; readonly status: string; readonly warning?: Warning };

/** The statement has done nothing, or not all that one could expect of it. */
export type Warning = { readonly sqlState: string; readonly message: string };

/**
 * Some rows of a result. As JSON, `body` holds texts, one after the other, a comma before each: `,[1,"a"],[2,"b"]`. As Arrow, `header` is
 * the message of a record batch, and `body` its buffers.
 */
export type ResultBatch = { readonly rows: number; readonly header: Buffer | null; readonly body: Buffer };

/** Reads the messages of one task, in their order; undefined for those without rows. */
export interface BatchReader {
  read(message: FlightData<Buffer>): ResultBatch | undefined;
}

export type ResultSummary = {
  readonly rowCount: number;
  readonly elapsedMs: number;
  /** The statement gives more rows than these (`limited-sink.ts`). Absent = these are all. */
  readonly isCut?: true;
};

/**
 * The part of a door that a statement's result goes to. The calls, nothing after an error:
 * ```
 * planned ─▶ (start ─▶ batch ...)   for rows; from `start` again as long as the sink is not `committed`
 *        └─▶ changed                for a statement that changes rows
 *                └─▶ finish
 * ```
 */
export interface DoorSink {
  /** The form in which it takes batches. */
  readonly encoding: Encoding;
  /**
   * Says what the result will be, once, as soon as it is known: for a query when it is planned, before it waits for its place; for any
   * other statement when it has run. A query that is planned again and has other columns then fails with COLUMNS_CHANGED.
   */
  planned(shape: ResultShape): void;
  /** Begins the rows; those of a result that is not `committed` may begin again. */
  start(): void;
  /**
   * Resolves when more rows may come, so a slow client slows the worker. @throws RESULT_TOO_LARGE, QUERY_CANCELLED when the client is gone.
   */
  batch(batch: ResultBatch): Promise<void> | undefined;
  /** The statement has changed this many rows. */
  changed(count: number): void;
  finish(summary: ResultSummary): void;
  /**
   * A number that grows with each byte that the client takes. A client that takes none for `coordinator.result_wait` has stopped: what
   * follows waits on disk (`spooled-sink.ts`), and the door gets it as the promises of `batch` resolve.
   */
  readonly progress: number;
  /** The client has seen a part: an error can no longer be answered, nor the statement run again. */
  readonly committed: boolean;
}

/** The sink that the engine calls: a door whose rows can be made to wait until the statement has committed (`held-sink.ts`). */
export interface ResultSink extends DoorSink {
  /** From now on rows wait for `release`: the client sees none of them before, and the result may begin again. */
  hold(): void;
  /** Ends the wait of the rows; resolves when the door has taken them. @throws QUERY_CANCELLED */
  release(): Promise<void>;
}
