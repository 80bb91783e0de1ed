/** Columns that park background jobs which fail too often, until an operator has them retried. */
export const JOBS_MIGRATION: readonly string[] = [
  // `attempts` says whether the background work has ever taken the row; `failures` is forgotten when an operator has it tried again.
  `alter table catalog.dropped_table
    add column failures integer not null default 0,
    add column parked_at timestamptz`,
  `update catalog.dropped_table set parked_at = now() where due_at is null`,
  `create index on catalog.dropped_table (parked_at) where parked_at is not null`,
];
