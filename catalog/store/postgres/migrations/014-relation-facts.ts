/**
 * Facts of tables and views that lists show, of the version `facts_version` of the document. They are written with every commit; where they
 * are of another version (rows from before this migration, dropped tables that were restored, commits by a process of an earlier
 * release) they are made from the document when a catalog starts, or when a list meets the row.
 */
export const RELATION_FACTS_MIGRATION: readonly string[] = [
  `alter table catalog.iceberg_table add facts_version integer, add summary text, add columns text`,
  `alter table catalog.iceberg_view add facts_version integer, add summary text, add columns text`,
  `create index on catalog.iceberg_table (catalog_id, id)`,
  `drop index catalog.iceberg_view_catalog_id_idx`,
  `create index on catalog.iceberg_view (catalog_id, id)`,
];
