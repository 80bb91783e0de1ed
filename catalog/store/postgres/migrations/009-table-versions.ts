/**
 * The documents that tables had before, for transactions that read all tables as the catalog stood at one moment. `changed_in` is the
 * Postgres transaction that made a document: whether a moment (`pg_current_snapshot`) sees it is exact, as no clock would be. Null = from
 * before this migration, or from before the database was restored.
 */
export const TABLE_VERSIONS_MIGRATION: readonly string[] = [
  `alter table catalog.iceberg_table add changed_in xid8`,
  `alter table catalog.iceberg_table alter changed_in set default pg_current_xact_id()`,
  `create table catalog.table_version (
    table_id uuid not null,
    version integer not null,
    changed_in xid8,
    metadata_location text not null,
    replaced_at timestamptz not null,
    primary key (table_id, version)
  )`,
  `create index on catalog.table_version (replaced_at)`,
];
