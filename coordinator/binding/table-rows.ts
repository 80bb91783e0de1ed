import type { SqlField } from '../plan/sql-type.ts';

/** Rows that no file holds, as Arrow batches. They are encoded once and travel with every task that reads them. */
export type TableRows = {
  /** The words that ask for them, for messages and EXPLAIN: `SHOW TABLES`. */
  readonly title: string;
  readonly columns: readonly SqlField[];
  /** A SELECT list over `columns` that gives the rows their names and types; absent = they are as they stand. */
  readonly select?: string;
  readonly rowCount: number;
  /** Length of `messages`. */
  readonly bytes: number;
  /** FlightData messages, the schema first, as a task carries them. */
  readonly messages: readonly Uint8Array[];
};
