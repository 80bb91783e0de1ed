/**
 * The time at which to look whether something of a table has expired, where its properties `history.expire.*` ask for that; else null. A
 * commit never puts it off, so that a table is looked at however often it changes. Tables that ask for it already are looked at now.
 */
export const EXPIRY_MIGRATION: readonly string[] = [
  `alter table catalog.iceberg_table add expires_at timestamptz`,
  `update catalog.iceberg_table set expires_at = now() where metadata like '%"history.expire.%'`,
  `create index on catalog.iceberg_table (expires_at) where expires_at is not null`,
];
