/** Tenants, principals, keys, catalogs, namespaces and tables. */
export const CATALOG_MIGRATION = [
  `create table catalog.tenant (
    id uuid primary key default gen_random_uuid(),
    name text collate "C" not null unique,
    created_at timestamptz not null default now()
  )`,
  `create table catalog.principal (
    id uuid primary key default gen_random_uuid(),
    tenant_id uuid not null references catalog.tenant (id),
    username text collate "C" not null,
    status text not null default 'ACTIVE'
      check (status in ('ACTIVE', 'INVITED', 'SUSPENDED', 'DEACTIVATED', 'PROVISIONED')),
    password_hash text,
    roles text[] not null,
    session_epoch integer not null default 0,
    is_bootstrap_principal boolean not null,
    created_at timestamptz not null default now(),
    unique (tenant_id, username)
  )`,
  `create table catalog.signing_key (
    kid text primary key,
    private_jwk jsonb not null,
    created_at timestamptz not null
  )`,
  `create table catalog.catalog (
    id uuid primary key default gen_random_uuid(),
    tenant_id uuid not null references catalog.tenant (id),
    name text collate "C" not null unique,
    name_folded text collate "C" not null,
    location text collate "C" not null,
    created_at timestamptz not null default now()
  )`,
  `create index on catalog.catalog (tenant_id, name_folded)`,
  `create table catalog.namespace (
    id uuid primary key default gen_random_uuid(),
    catalog_id uuid not null references catalog.catalog (id),
    parent_id uuid references catalog.namespace (id),
    path text collate "C" not null,
    path_folded text collate "C" not null,
    properties jsonb not null,
    created_at timestamptz not null default now(),
    unique (catalog_id, path)
  )`,
  `create index on catalog.namespace (catalog_id, path_folded)`,
  `create index on catalog.namespace (parent_id, path)`,
  `create table catalog.iceberg_table (
    id uuid primary key default gen_random_uuid(),
    catalog_id uuid not null references catalog.catalog (id),
    namespace_id uuid not null references catalog.namespace (id),
    name text collate "C" not null,
    name_folded text collate "C" not null,
    location text collate "C" not null,
    metadata_location text not null,
    metadata text not null,
    version integer not null,
    created_at timestamptz not null default now(),
    unique (namespace_id, name)
  )`,
  `create index on catalog.iceberg_table (namespace_id, name_folded)`,
  `create index on catalog.iceberg_table (catalog_id, location)`,
  // Every catalog process listens, so that a token of an older epoch is refused everywhere at once.
  `create function catalog.notify_session_epoch() returns trigger language plpgsql as $$
  begin
    perform pg_notify('skein_session_epoch', json_build_object('principal', new.id, 'epoch', new.session_epoch)::text);
    return null;
  end $$`,
  `create trigger session_epoch_changed after update of session_epoch on catalog.principal
    for each row when (old.session_epoch is distinct from new.session_epoch)
    execute function catalog.notify_session_epoch()`,
];
