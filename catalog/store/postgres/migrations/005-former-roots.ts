/** The table of former roots; it has no foreign key, because its rows outlive their tenant. */
export const ROOTS_MIGRATION: readonly string[] = [
  `create table catalog.former_root (
    location text collate "C" not null,
    tenant_id uuid not null,
    primary key (location, tenant_id)
  )`,
];
