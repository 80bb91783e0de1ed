/**
 * Stages: folders of files that statements load and unload, of a namespace or of a principal. One that has lost both, or its catalog, is
 * dropped: the background work deletes its files, and then the row. `stage_upload` has a row for whatever is being written into a stage, so
 * that what a dead process has left there is found without a list.
 */
export const STAGES_MIGRATION: readonly string[] = [
  `create table catalog.stage (
    id uuid primary key,
    catalog_id uuid references catalog.catalog (id) on delete set null,
    namespace_id uuid references catalog.namespace (id),
    principal_id uuid references catalog.principal (id) on delete set null,
    name text collate "C" not null,
    name_folded text collate "C" not null,
    location text collate "C" not null,
    properties jsonb not null,
    created_at timestamptz not null default now(),
    constraint stage_of_one check (namespace_id is null or principal_id is null)
  )`,
  `create unique index stage_name on catalog.stage (namespace_id, name_folded)`,
  `create unique index stage_principal on catalog.stage (principal_id)`,
  `create index on catalog.stage (catalog_id)`,
  `create index on catalog.stage (id) where catalog_id is null or (namespace_id is null and principal_id is null)`,
  `create table catalog.stage_upload (
    id uuid primary key,
    stage_id uuid not null references catalog.stage (id),
    path text not null,
    part_bytes bigint not null,
    size_bytes bigint,
    ended boolean not null default false,
    expires_at timestamptz not null
  )`,
  `create index on catalog.stage_upload (stage_id)`,
  `create index on catalog.stage_upload (expires_at)`,
];
