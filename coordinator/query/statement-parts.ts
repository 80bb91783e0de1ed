import type { QueryScope } from '../operation/refresh-request.ts';
import type { QueryTables, TableSource } from '../binding/table-source.ts';
import type { QueryColumn } from '../session/prepared-statement.ts';
import type { RunningStatement } from './running-statement.ts';
import type { StatementTables } from './statement-tables.ts';

export type CheckColumns = (columns: readonly QueryColumn[]) => Promise<void>;

/** A running statement, with what its queries share. */
export type StatementParts = RunningStatement & {
  readonly tables: StatementTables & QueryTables;
  /** Loads tables as they are now, past the statement's cache in `tables`. */
  readonly source: TableSource;
  readonly checkColumns: CheckColumns;
  /** As in `ResultShape`. */
  readonly tag: string;
  /** Absent = the session's, and whole tables. */
  readonly scope?: QueryScope;
};
