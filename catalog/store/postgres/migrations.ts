import { sql, type Kysely } from 'kysely';
import type { OwnSchema } from '#shared/database/own-schema.ts';
import { ASSERTIONS_MIGRATION } from './assertions-migration.ts';
import { ATTACHED_CLIENTS_MIGRATION } from './attached-clients-migration.ts';
import { EXPIRY_MIGRATION } from './expiry-migration.ts';
import { IDENTITY_MIGRATION } from './identity-migration.ts';
import { JOBS_MIGRATION } from './jobs-migration.ts';
import { LEASE_MIGRATION } from './lease-migration.ts';
import { LIFECYCLE_MIGRATION } from './lifecycle-migration.ts';
import { LIST_CHANGES_MIGRATION } from './list-changes-migration.ts';
import { LOADED_FILES_MIGRATION } from './loaded-files-migration.ts';
import { NAMES_MIGRATION } from './names-migration.ts';
import { POLICIES_MIGRATION } from './policies-migration.ts';
import { PRINCIPALS_MIGRATION } from './principals-migration.ts';
import { RELATION_FACTS_MIGRATION } from './relation-facts-migration.ts';
import { PRINCIPAL_SCOPES_MIGRATION } from './principal-scopes-migration.ts';
import { STOPPED_PRINCIPALS_MIGRATION } from './stopped-principals-migration.ts';
import { PROFILES_MIGRATION } from './profiles-migration.ts';
import { ROOTS_MIGRATION } from './roots-migration.ts';
import { STAGES_MIGRATION } from './stages-migration.ts';
import { STORAGE_TABLES_MIGRATION } from './storage-tables-migration.ts';
import { TABLE_VERSIONS_MIGRATION } from './table-versions-migration.ts';
import { CLIENT_UPLOADS_MIGRATION } from './client-uploads-migration.ts';
import { UNKNOWN_SIGN_IN_MIGRATION } from './unknown-sign-in-migration.ts';
import { VIEWS_MIGRATION } from './views-migration.ts';
import { WEBHOOKS_MIGRATION } from './webhooks-migration.ts';

/**
 * The migrations of the Postgres schema `catalog`, applied in the order of their names and never changed after a release.
 * Names are compared and sorted as bytes (collation "C"), whatever the locale of the server; `*_folded` is the name as
 * `foldIdentifier` has it, for SQL's lookups without case.
 */
export const CATALOG_SCHEMA: OwnSchema = {
  name: 'catalog',
  migrations: {
    '0001_catalog': { up: (db) => run(db, CATALOG) },
    '0002_views': { up: (db) => run(db, VIEWS_MIGRATION) },
    '0003_lifecycle': { up: (db) => run(db, LIFECYCLE_MIGRATION) },
    '0004_identity': { up: (db) => run(db, IDENTITY_MIGRATION) },
    '0005_former_roots': { up: (db) => run(db, ROOTS_MIGRATION) },
    '0006_jobs': { up: (db) => run(db, JOBS_MIGRATION) },
    '0007_names': { up: (db) => run(db, NAMES_MIGRATION) },
    '0008_storage_tables': { up: (db) => run(db, STORAGE_TABLES_MIGRATION) },
    '0009_table_versions': { up: (db) => run(db, TABLE_VERSIONS_MIGRATION) },
    '0010_expiry': { up: (db) => run(db, EXPIRY_MIGRATION) },
    '0011_stages': { up: (db) => run(db, STAGES_MIGRATION) },
    '0012_loaded_files': { up: (db) => run(db, LOADED_FILES_MIGRATION) },
    '0013_leases': { up: (db) => run(db, LEASE_MIGRATION) },
    '0014_relation_facts': { up: (db) => run(db, RELATION_FACTS_MIGRATION) },
    '0015_principals': { up: (db) => run(db, PRINCIPALS_MIGRATION) },
    '0016_assertions': { up: (db) => run(db, ASSERTIONS_MIGRATION) },
    '0017_stopped_principals': { up: (db) => run(db, STOPPED_PRINCIPALS_MIGRATION) },
    '0018_storage_profiles': { up: (db) => run(db, PROFILES_MIGRATION) },
    '0019_webhooks': { up: (db) => run(db, WEBHOOKS_MIGRATION) },
    '0020_attached_clients': { up: (db) => run(db, ATTACHED_CLIENTS_MIGRATION) },
    '0021_unknown_sign_in': { up: (db) => run(db, UNKNOWN_SIGN_IN_MIGRATION) },
    '0022_client_uploads': { up: (db) => run(db, CLIENT_UPLOADS_MIGRATION) },
    '0023_list_changes': { up: (db) => run(db, LIST_CHANGES_MIGRATION) },
    '0024_principal_scopes': { up: (db) => run(db, PRINCIPAL_SCOPES_MIGRATION) },
    '0025_policies': { up: (db) => run(db, POLICIES_MIGRATION) },
  },
};

async function run(db: Kysely<unknown>, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const CATALOG = [
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
