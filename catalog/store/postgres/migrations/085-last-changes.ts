/** Lists tell when a table or view last changed. Facts that do not say so are read again from the documents, by the first list that needs them. */
export const LAST_CHANGES_MIGRATION: readonly string[] = [
  `update catalog.iceberg_table set facts_version = null where facts_version is not null`,
  `update catalog.iceberg_view set facts_version = null where facts_version is not null`,
];
