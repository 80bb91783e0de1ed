/** How a catalog whose files lie in a bucket reaches it. The keys are sealed (`shared/sealing-keys.ts`). */
export const PROFILES_MIGRATION: readonly string[] = [
  `create table catalog.storage_profile (
    catalog_id uuid primary key references catalog.catalog (id) on delete cascade,
    version integer not null default 1,
    settings jsonb not null,
    sealed_key text,
    sealed_engine_key text
  )`,
];
