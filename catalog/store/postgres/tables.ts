import type { ColumnType, Generated, Kysely, Transaction } from 'kysely';
import type { JsonObject } from '#shared/json.ts';
import type { PolicyTables } from './policy-tables.ts';
import type { PrincipalTables } from './principal-tables.ts';
import type { ProviderTables } from './provider-tables.ts';
import type { MfaRequired } from '#shared/config/mfa-required.ts';
import type { StorageSettings } from '../../metadata/storage-settings.ts';

/** The tables of the Postgres schema `catalog`, as the newest migration leaves them. */
export type Tables = PrincipalTables &
  ProviderTables &
  PolicyTables & {
    tenant: {
      id: Generated<string>;
      name: string;
      /** The policy of passwords: fewest characters, fewest classes of characters, former passwords that may not come again. */
      password_min_length: Generated<number>;
      password_classes: Generated<number>;
      password_history: Generated<number>;
      /** Those who must have a second factor; `catalog.mfa_required` may ask for more. */
      mfa_required: Generated<MfaRequired>;
      created_at: Created;
    };
    principal: {
      /** Never changes; the `sub` of tokens. */
      id: Generated<string>;
      tenant_id: string;
      username: string;
      status: Generated<PrincipalStatus>;
      /** PHC string of Argon2id; null for a principal without a password. */
      password_hash: string | null;
      /** The giver of the password, or the one before by which the principal has set it; null: the operator, or the principal alone. */
      password_set_by: Generated<string | null>;
      /** Names of the granted roles, written by the trigger of `role_grant`. */
      roles: readonly string[];
      /** Tokens of an older epoch are refused. */
      session_epoch: Generated<number>;
      /** The newest epoch that has ended all that ran before it, beside those of a suspension or a drop. */
      stopped_epoch: Generated<number | null>;
      is_bootstrap_principal: boolean;
      /** A service account has no password, and signs in as an OAuth client. */
      kind: Generated<'USER' | 'SERVICE'>;
      username_folded: ColumnType<string, never, never>;
      /** An older principal has the same name but for case; this one is found by its exact name alone. */
      has_double: Generated<boolean>;
      email: Generated<string | null>;
      email_folded: ColumnType<string | null, never, never>;
      display_name: Generated<string | null>;
      default_role: Generated<string | null>;
      default_warehouse: Generated<string | null>;
      must_change_password: Generated<boolean>;
      comment: Generated<string | null>;
      identity_source: Generated<string>;
      legal_hold: Generated<boolean>;
      /** A tenant_admin has set the legal hold. */
      legal_hold_by_admin: Generated<boolean>;
      suspended_by_provider: Generated<boolean>;
      legal_hold_reason: Generated<string | null>;
      updated_at: Generated<Date>;
      deactivated_at: Generated<Date | null>;
      /** When the sweeper or EXPUNGE rewrote the name and removed what was personal. */
      archived_at: Generated<Date | null>;
      created_at: Created;
    };
    /** Ids of deleted principals: their tokens are refused. */
    dropped_principal: { id: string; dropped_at: Created };
    /** The credential of a service account. */
    oauth_client: {
      /** The account was made for it, and goes with it. */
      made_account: Generated<boolean>;
      client_id: string;
      principal_id: string;
      /** The scopes that its tokens may be granted. */
      scopes: readonly string[];
      secret_sha256: Buffer;
      /** The secret before the last rotation, while it is still valid. */
      previous_sha256: Buffer | null;
      previous_until: Date | null;
      created_at: Created;
      rotated_at: Date | null;
    };
    /** Refresh tokens of one sign-in: only the newest token of each family is valid. */
    refresh_family: {
      id: string;
      client_id: string;
      secret_sha256: Buffer;
      scopes: readonly string[];
      /** Session epoch of the principal when it signed in. */
      session_epoch: number;
      authenticated_at: Date;
      expires_at: Date;
    };
    signing_key: { kid: string; private_jwk: ColumnType<JsonObject, string, never>; created_at: Created };
    catalog: {
      id: Generated<string>;
      tenant_id: string;
      /** Unique in the deployment: it is the REST prefix. */
      name: string;
      name_folded: string;
      /** Root of the catalog's tables, normalised. */
      location: string;
      /** Further roots that the operator allows, normalised. */
      allowed_roots: ColumnType<readonly string[], readonly string[] | undefined, readonly string[]>;
      /** Seconds for which a dropped table can be restored, as decimal text (int8). */
      undrop_window_s: ColumnType<string, number | undefined, number>;
      created_at: Created;
    };
    /** How the bucket of a catalog is reached. */
    storage_profile: {
      catalog_id: string;
      version: Generated<number>;
      settings: ColumnType<StorageSettings, string, string>;
      sealed_key: string | null;
      sealed_engine_key: string | null;
    };
    /** Former roots of a tenant's catalogs, whose files may still lie there. */
    former_root: {
      /** Normalised. */
      location: string;
      tenant_id: string;
    };
    namespace: {
      id: Generated<string>;
      catalog_id: string;
      parent_id: string | null;
      /** Levels joined by the unit separator. */
      path: string;
      path_folded: string;
      /** A map of strings, as JSON text. */
      properties: ColumnType<Readonly<Record<string, string>>, string, string>;
      /** Its number for Postgres' clients. */
      oid: Generated<string>;
      created_at: Created;
    };
    iceberg_table: {
      id: Generated<string>;
      catalog_id: string;
      namespace_id: string;
      name: string;
      name_folded: string;
      /** Normalised. */
      location: string;
      metadata_location: string;
      /** The document at `metadata_location`, so that a load reads no file. */
      metadata: string;
      /** Number of commits; the value that a compare-and-swap compares. */
      version: number;
      /** Postgres transaction of the last commit; null = older than all that any moment may miss. */
      changed_in: ColumnType<string | null, undefined, null>;
      /** When to look whether something of it has expired. */
      expires_at: ColumnType<Date | null, Date | null, Date | null>;
      /** The version of the document that `summary` and `columns` are of; null = of none. */
      facts_version: ColumnType<number | null, number | null | undefined, number | null>;
      /** `RelationFacts`, JSON texts. */
      summary: ColumnType<string | null, string | undefined, string>;
      columns: ColumnType<string | null, string | undefined, string>;
      oid: Generated<string>;
      created_at: Created;
    };
    /** Documents that tables had before, by their files. */
    table_version: {
      table_id: string;
      version: number;
      changed_in: string | null;
      metadata_location: string;
      replaced_at: Date;
    };
    iceberg_view: {
      id: Generated<string>;
      catalog_id: string;
      namespace_id: string;
      name: string;
      name_folded: string;
      location: string;
      metadata_location: string;
      /** The document at `metadata_location`. */
      metadata: string;
      /** Number of commits; the value that a compare-and-swap compares. */
      version: number;
      /** The table of a materialized view's rows, which may not be there yet. */
      storage_namespace_id: ColumnType<string | null, string | null | undefined, string | null>;
      storage_name: ColumnType<string | null, string | null | undefined, string | null>;
      /** The version of the document that `summary` and `columns` are of; null = of none. */
      facts_version: ColumnType<number | null, number | null | undefined, number | null>;
      /** `RelationFacts`, JSON texts. */
      summary: ColumnType<string | null, string | undefined, string>;
      columns: ColumnType<string | null, string | undefined, string>;
      created_at: Created;
    };
    iceberg_function: {
      id: Generated<string>;
      catalog_id: string;
      namespace_id: string;
      name: string;
      metadata_location: string;
      /** The document at `metadata_location`. */
      metadata: string;
      created_at: Created;
    };
    scan_plan: {
      id: string;
      table_id: string;
      /** `PlannedScan`, JSON text. */
      scan: string;
      expires_at: Date;
    };
    metrics_report: {
      /** Ascending: the order of arrival. */
      id: Generated<string>;
      table_id: string;
      /** The sender: the `sub` of the token. */
      principal: string;
      /** The report as received, JSON text. */
      report: string;
      reported_at: Date;
    };
    /** Folders that belong to one table; none lies at, above or below a folder of another table. */
    folder_claim: {
      /** Normalised. */
      location: string;
      owner_id: string;
      catalog_id: string;
      /** A client has a key until then. */
      keys_until: Generated<Date | null>;
      /** The one principal who has such keys; empty = several, null = it was not kept. */
      keys_holder: Generated<string | null>;
      /** The `table-uuid` of a table that is gone; null = the owner has the folder. */
      former_uuid: Generated<string | null>;
      /** The table has policies, or had them when it went. Triggers keep it (migration `0040_policed_folders`). */
      is_policed: Generated<boolean>;
    };
    /** Dropped tables that can be restored, or whose files are still to be deleted. */
    dropped_table: {
      id: string;
      catalog_id: string;
      /** Path of the namespace; levels joined by the unit separator. */
      path: string;
      name: string;
      location: string;
      metadata_location: string;
      metadata: string;
      version: number;
      oid: string | null;
      created_at: Date;
      dropped_at: Date;
      dropped_by: string;
      /** Time until which it can be restored. */
      expires_at: Date;
      /** Whether the background work deletes its files after that. */
      purge: boolean;
      /** When the background work processes it next; null while it is parked. */
      due_at: Date | null;
      /** Number of times that the background work has taken it. */
      attempts: Generated<number>;
      /** Number of attempts that failed or never ended, since an operator last had it retried. */
      failures: Generated<number>;
      last_error: Generated<string | null>;
      /** When it was parked: it failed too often, and is not taken again. */
      parked_at: Generated<Date | null>;
    };
    stage: {
      id: string;
      /** Null: the catalog has been dropped. */
      catalog_id: string | null;
      /** Null: it is a principal's, or dropped. */
      namespace_id: string | null;
      /** The principal whose own stage it is. */
      principal_id: string | null;
      name: string;
      name_folded: string;
      /** Normalised. */
      location: string;
      /** When the last key for writing into it ends; null = there is none. */
      keys_until: Generated<Date | null>;
      /** A map of strings, as JSON text. */
      properties: ColumnType<Readonly<Record<string, string>>, string, string>;
      created_at: Created;
    };
    /** Files that are being written into a stage. */
    stage_upload: {
      id: string;
      stage_id: string;
      /** Path of the file, in the stage. */
      path: string;
      /** Size of a part but the last; 0 = the file comes in one request. Decimal text (int8). */
      part_bytes: ColumnType<string, number, never>;
      /** Size of the file; null = unknown. Decimal text (int8). */
      size_bytes: ColumnType<string | null, number | null, never>;
      /** The store's id of the upload, where clients send the parts to it. */
      store_upload_id: Generated<string | null>;
      /** It was completed or aborted. */
      ended: Generated<boolean>;
      /** Time after which what it has left is deleted. */
      expires_at: Date;
    };
    /** Files of stages whose rows are in a table. */
    loaded_file: {
      table_id: string;
      branch: string;
      stage_id: string;
      /** In the stage. */
      path: string;
      /** The state in which it was loaded. */
      etag: string;
      loaded_at: Date;
    };
    idempotency_key: {
      principal: string;
      catalog: string;
      key: string;
      operation: string;
      request_hash: Buffer;
      /** Null: it succeeded, but its answer was not kept. */
      status: number | null;
      etag: string | null;
      body: string | null;
      expires_at: Date;
    };
  };

type Created = ColumnType<Date, Date | undefined, never>;
export type PrincipalStatus = 'ACTIVE' | 'INVITED' | 'SUSPENDED' | 'DEACTIVATED' | 'PROVISIONED';

/** A handle for reads; a transaction is one too. */
export type Database = Kysely<Tables>;
/** A handle for writes, and for reads that lock. */
export type Tx = Transaction<Tables>;
