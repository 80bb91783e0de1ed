/** Roots that catalogs had; no foreign key, because they outlive their tenant. */
export const ROOTS_MIGRATION: readonly string[] = [
  `create table catalog.former_root (
    location text collate "C" not null,
    tenant_id uuid not null,
    primary key (location, tenant_id)
  )`,
];
