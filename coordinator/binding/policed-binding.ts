import type { SqlText } from '#shared/task/sql-text.ts';
import type { BoundedFamily } from '#shared/sql/bounded-functions.ts';
import type { ScanBinding } from './scan-binding.ts';
import type { TablePolicies } from './table-policies.ts';

/**
 * A table between which and its reader policies stand. The statement reads only what a task of its own has made of it (`reading`): nothing of
 * the statement's text stands in the text of that task, and nothing of the table or its policies in the statement's.
 */
export type PolicedBinding = {
  readonly kind: 'policed';
  /**
   * The table as the statement sees it: the columns that it may name and that its plan reads. Its predicate is over columns without a mask; it
   * prunes files and row groups, and no row is compared with it below the policies.
   */
  readonly table: ScanBinding;
  readonly policies: TablePolicies;
  readonly reading: PolicyReading;
};

/** The query that applies the policies: it gives the visible rows, masked, under the names of the table's columns. */
export type PolicyReading = {
  /** Tables are indexes into `scans`. */
  readonly sql: SqlText;
  /** The table itself, at `source`, with the policies' predicate, and the tables that the policies look up. */
  readonly scans: readonly ScanBinding[];
  readonly source: number;
  /** A policy asks for the user or his roles. */
  readonly contextual: boolean;
  readonly bounds: readonly BoundedFamily[];
  /** The reader may manage policies: he sees their errors, and how they were applied. */
  readonly seesPolicies: boolean;
};

/**
 * The number of rows that planning assumes: neither the order of joins nor an estimate tells how many rows there are, hidden ones among
 * them.
 */
export const POLICED_ROWS = 1_000_000;
