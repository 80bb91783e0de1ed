import type { FileTable } from './file-table.ts';
import type { TableRows } from './table-rows.ts';
import type { TablePolicies } from './table-policies.ts';

/** The rows of a statement that is read like a table. */
export type RowsBinding = {
  readonly kind: 'rows';
  readonly rows: TableRows;
  readonly policies: TablePolicies;
  /** The table whose metadata they tell: its `version`. */
  readonly of?: string;
};

/** The files of a stage. */
export type StagedBinding = {
  readonly kind: 'staged';
  readonly table: FileTable;
  readonly policies: TablePolicies;
};
