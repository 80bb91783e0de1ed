import type { SqlText } from '#shared/task/sql-text.ts';
import type { TableSink, WrittenFile } from '#shared/task/task.ts';
import type { TableBinding } from '../binding/table-binding.ts';
import type { SqlField } from '../plan/sql-type.ts';
import type { Outcome } from './outcome.ts';

/** A query that is planned and whose rows go into files. */
export interface PlannedRows<Written = WrittenRows, Into = Destination> {
  readonly columns: readonly SqlField[];
  /** Whether the query asks for an order of its rows. */
  readonly isOrdered: boolean;
  /**
   * Waits for a place and runs the query, once; its tasks write the rows.
   * @throws COLUMNS_CHANGED when it was planned again while it waited, and has other columns now
   */
  into(destination: Into): Promise<Written>;
}

/** `sql` wraps a query's text so that its rows are the table's. */
type Destination = { readonly sink: TableSink; readonly sql: (text: SqlText) => SqlText };

export type WrittenRows = Omit<Outcome, 'rowsProduced'> & {
  readonly files: readonly WrittenFile[];
  /** The tables as they were read, for a query of one plan. */
  readonly scans?: readonly TableBinding[];
  /** The addresses of the rows that theirs replace, where the sink asks for them. */
  readonly replaced?: readonly string[];
};
