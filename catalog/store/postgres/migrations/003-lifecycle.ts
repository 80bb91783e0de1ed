/** Tables and columns for drops, purges, further roots and idempotency keys. */
export const LIFECYCLE_MIGRATION: readonly string[] = [
  `alter table catalog.catalog
    add column allowed_roots text[] collate "C" not null default '{}',
    add column undrop_window_s bigint not null default 0 check (undrop_window_s >= 0)`,
  // Every folder that a table, also a dropped one, has or had for its own; no foreign key, because the owner moves between tables.
  `create table catalog.folder_claim (
    location text collate "C" not null,
    owner_id uuid not null,
    catalog_id uuid not null references catalog.catalog (id),
    primary key (location, owner_id)
  )`,
  `create index on catalog.folder_claim (owner_id)`,
  `insert into catalog.folder_claim (location, owner_id, catalog_id) select location, id, catalog_id from catalog.iceberg_table`,
  `drop index catalog.iceberg_table_catalog_id_location_idx`,
  `create table catalog.dropped_table (
    id uuid primary key,
    catalog_id uuid not null references catalog.catalog (id),
    path text collate "C" not null,
    name text collate "C" not null,
    location text collate "C" not null,
    metadata_location text not null,
    metadata text not null,
    version integer not null,
    created_at timestamptz not null,
    dropped_at timestamptz not null,
    dropped_by text not null,
    expires_at timestamptz not null,
    purge boolean not null,
    due_at timestamptz,
    attempts integer not null default 0,
    last_error text
  )`,
  `create index on catalog.dropped_table (catalog_id, dropped_at, id)`,
  `create index on catalog.dropped_table (due_at)`,
  `create table catalog.idempotency_key (
    principal uuid not null,
    catalog text collate "C" not null,
    key uuid not null,
    operation text not null,
    request_hash bytea not null,
    status smallint,
    etag text,
    body text,
    expires_at timestamptz not null,
    primary key (principal, catalog, key, operation)
  )`,
  `create index on catalog.idempotency_key (expires_at)`,
];
