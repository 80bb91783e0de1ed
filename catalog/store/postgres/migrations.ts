import { sql, type Kysely } from 'kysely';
import type { OwnSchema } from '#shared/database/own-schema.ts';
import { CATALOG_MIGRATION } from './migrations/001-catalog.ts';
import { VIEWS_MIGRATION } from './migrations/002-views.ts';
import { LIFECYCLE_MIGRATION } from './migrations/003-lifecycle.ts';
import { IDENTITY_MIGRATION } from './migrations/004-identity.ts';
import { ROOTS_MIGRATION } from './migrations/005-former-roots.ts';
import { JOBS_MIGRATION } from './migrations/006-jobs.ts';
import { NAMES_MIGRATION } from './migrations/007-names.ts';
import { STORAGE_TABLES_MIGRATION } from './migrations/008-storage-tables.ts';
import { TABLE_VERSIONS_MIGRATION } from './migrations/009-table-versions.ts';
import { EXPIRY_MIGRATION } from './migrations/010-expiry.ts';
import { STAGES_MIGRATION } from './migrations/011-stages.ts';
import { LOADED_FILES_MIGRATION } from './migrations/012-loaded-files.ts';
import { LEASE_MIGRATION } from './migrations/013-leases.ts';
import { RELATION_FACTS_MIGRATION } from './migrations/014-relation-facts.ts';
import { PRINCIPALS_MIGRATION } from './migrations/015-principals.ts';
import { ASSERTIONS_MIGRATION } from './migrations/016-assertions.ts';
import { STOPPED_PRINCIPALS_MIGRATION } from './migrations/017-stopped-principals.ts';
import { PROFILES_MIGRATION } from './migrations/018-storage-profiles.ts';
import { WEBHOOKS_MIGRATION } from './migrations/019-webhooks.ts';
import { ATTACHED_CLIENTS_MIGRATION } from './migrations/020-attached-clients.ts';
import { UNKNOWN_SIGN_IN_MIGRATION } from './migrations/021-unknown-sign-in.ts';
import { CLIENT_UPLOADS_MIGRATION } from './migrations/022-client-uploads.ts';
import { LIST_CHANGES_MIGRATION } from './migrations/023-list-changes.ts';
import { PRINCIPAL_SCOPES_MIGRATION } from './migrations/024-principal-scopes.ts';
import { POLICIES_MIGRATION } from './migrations/025-policies.ts';
import { MAKERS_MIGRATION } from './migrations/026-makers.ts';
import { FOLDER_KEYS_MIGRATION } from './migrations/027-folder-keys.ts';
import { BROWSER_SIGN_INS_MIGRATION } from './migrations/028-browser-sign-ins.ts';
import { KEY_HOLDERS_MIGRATION } from './migrations/029-key-holders.ts';
import { SIGN_IN_AMR_MIGRATION } from './migrations/030-sign-in-amr.ts';
import { APP_SIGN_INS_MIGRATION } from './migrations/031-app-sign-ins.ts';
import { FACTORS_MIGRATION } from './migrations/035-factors.ts';
import { POLICED_FOLDERS_MIGRATION } from './migrations/040-policed-folders.ts';
import { AUDIT_SEARCH_MIGRATION } from './migrations/065-audit-search.ts';
import { LAST_CHANGES_MIGRATION } from './migrations/085-last-changes.ts';
import { LINKED_BY_MIGRATION } from './migrations/087-linked-by.ts';
import { SUSPENDED_BY_PROVIDER_MIGRATION } from './migrations/086-suspended-by-provider.ts';
import { TABLE_SOURCES_MIGRATION } from './migrations/041-table-sources.ts';
import { OBJECT_NUMBERS_MIGRATION } from './migrations/045-object-numbers.ts';
import { IDENTITY_PROVIDERS_MIGRATION } from './migrations/055-identity-providers.ts';
import { PROVIDER_GROUPS_MIGRATION } from './migrations/056-provider-groups.ts';
import { OUTSIDE_SIGN_INS_MIGRATION } from './migrations/057-outside-sign-ins.ts';
import { SCIM_MIGRATION } from './migrations/058-scim.ts';
import { STOPPED_BY_PROVIDER_MIGRATION } from './migrations/059-stopped-by-provider.ts';

/**
 * The migrations of the Postgres schema `catalog`, applied in the order of their names and never changed after a release.
 * Names are compared and sorted as bytes (collation "C"), whatever the locale of the server; `*_folded` is the name as
 * `foldIdentifier` has it, for SQL's lookups without case.
 */
export const CATALOG_SCHEMA: OwnSchema = {
  name: 'catalog',
  migrations: {
    '0001_catalog': { up: (db) => run(db, CATALOG_MIGRATION) },
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
    '0026_makers': { up: (db) => run(db, MAKERS_MIGRATION) },
    '0027_folder_keys': { up: (db) => run(db, FOLDER_KEYS_MIGRATION) },
    '0028_browser_sign_ins': { up: (db) => run(db, BROWSER_SIGN_INS_MIGRATION) },
    '0029_key_holders': { up: (db) => run(db, KEY_HOLDERS_MIGRATION) },
    '0030_sign_in_amr': { up: (db) => run(db, SIGN_IN_AMR_MIGRATION) },
    '0031_app_sign_ins': { up: (db) => run(db, APP_SIGN_INS_MIGRATION) },
    '0035_factors': { up: (db) => run(db, FACTORS_MIGRATION) },
    '0040_policed_folders': { up: (db) => run(db, POLICED_FOLDERS_MIGRATION) },
    '0041_table_sources': { up: (db) => run(db, TABLE_SOURCES_MIGRATION) },
    '0045_object_numbers': { up: (db) => run(db, OBJECT_NUMBERS_MIGRATION) },
    '0055_identity_providers': { up: (db) => run(db, IDENTITY_PROVIDERS_MIGRATION) },
    '0056_provider_groups': { up: (db) => run(db, PROVIDER_GROUPS_MIGRATION) },
    '0057_outside_sign_ins': { up: (db) => run(db, OUTSIDE_SIGN_INS_MIGRATION) },
    '0058_scim': { up: (db) => run(db, SCIM_MIGRATION) },
    '0059_stopped_by_provider': { up: (db) => run(db, STOPPED_BY_PROVIDER_MIGRATION) },
    '0065_audit_search': { up: (db) => run(db, AUDIT_SEARCH_MIGRATION) },
    '0085_last_changes': { up: (db) => run(db, LAST_CHANGES_MIGRATION) },
    '0086_suspended_by_provider': { up: (db) => run(db, SUSPENDED_BY_PROVIDER_MIGRATION) },
    '0087_linked_by': { up: (db) => run(db, LINKED_BY_MIGRATION) },
  },
};

async function run(db: Kysely<unknown>, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
