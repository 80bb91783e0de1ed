import type { SqlField } from '../plan/sql-type.ts';

/**
 * Rows that no file holds, as Arrow batches. They are encoded once and travel with every task that reads them, or, if a client has sent them,
 * lie on the coordinator's disk in parts, each of which a task brings to a worker.
 */
export type TableRows = {
  /** The words that ask for them, for messages and EXPLAIN: `SHOW TABLES`. */
  readonly title: string;
  readonly columns: readonly RowsColumn[];
  /** A SELECT list over `columns` that gives the rows their names and types; absent = they are as they stand. */
  readonly select?: string;
  readonly rowCount: number;
  /** Length of all messages. */
  readonly bytes: number;
  /** FlightData messages, the schema first, as a task carries them; none of rows in parts. */
  readonly messages: readonly Uint8Array[];
  /** Absent = the rows are in `messages`. */
  readonly parts?: readonly RowsPart[];
};

/** `isMoment` as in `OutputColumn`. */
type RowsColumn = SqlField & { readonly isMoment?: true };

/** The name by which the text of a statement has the rows that its client has sent. */
export const ARRIVED_ROWS = '@rows/arrived';

/** Rows that one task carries. */
export type RowsPart = {
  readonly rowCount: number;
  /** Length of its messages. */
  readonly bytes: number;
  /** Reads its messages, the schema first. @throws STORAGE_ERROR */
  readonly read: () => Promise<readonly Uint8Array[]>;
};
