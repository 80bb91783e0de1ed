/**
 * The tables that hold the rows of materialized views. A view names its table before there is one, so it refers to it by its namespace and
 * name; no list shows the table while a view has it.
 */
export const STORAGE_TABLES_MIGRATION: readonly string[] = [
  `alter table catalog.iceberg_view add storage_namespace_id uuid, add storage_name text collate "C"`,
  `create unique index iceberg_view_storage on catalog.iceberg_view (storage_namespace_id, storage_name)`,
];
