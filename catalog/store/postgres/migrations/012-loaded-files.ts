/**
 * Files of stages that COPY INTO has loaded into tables, each with the state (`etag`) in which it was. The row of a file is written in the
 * transaction that commits its rows, so a file counts as loaded exactly when its rows are in the table. Rows refer to tables and stages by
 * their ids alone: those of a table that was dropped are there when it is restored, and go with their age.
 */
export const LOADED_FILES_MIGRATION: readonly string[] = [
  `create table catalog.loaded_file (
    table_id uuid not null,
    branch text collate "C" not null,
    stage_id uuid not null,
    path text collate "C" not null,
    etag text collate "C" not null,
    loaded_at timestamptz not null,
    primary key (table_id, branch, stage_id, path)
  )`,
  `create index on catalog.loaded_file (loaded_at)`,
];
