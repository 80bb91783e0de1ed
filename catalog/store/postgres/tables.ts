import type { ColumnType, Generated, Kysely, Transaction } from 'kysely';
import type { JsonObject } from '#shared/json.ts';

/** The tables of the Postgres schema `catalog`, as the newest migration leaves them. */
export type Tables = {
  tenant: { id: Generated<string>; name: string; created_at: Created };
  principal: {
    /** Stable; the `sub` of tokens. */
    id: Generated<string>;
    tenant_id: string;
    username: string;
    status: Generated<PrincipalStatus>;
    /** PHC string of Argon2id; null for one that has no password. */
    password_hash: string | null;
    roles: readonly string[];
    /** Tokens of an older epoch are refused. */
    session_epoch: Generated<number>;
    is_bootstrap_principal: boolean;
    created_at: Created;
  };
  signing_key: { kid: string; private_jwk: ColumnType<JsonObject, string, never>; created_at: Created };
  catalog: {
    id: Generated<string>;
    tenant_id: string;
    /** Unique in the deployment: it is the REST prefix. */
    name: string;
    name_folded: string;
    /** Root of its tables, normalised. */
    location: string;
    created_at: Created;
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
    created_at: Created;
  };
  iceberg_table: {
    id: Generated<string>;
    catalog_id: string;
    namespace_id: string;
    name: string;
    name_folded: string;
    /** Normalised; no table's location lies in another's. */
    location: string;
    metadata_location: string;
    /** The document at `metadata_location`, so that a load reads no file. */
    metadata: string;
    /** Counts commits: what a compare-and-swap compares. */
    version: number;
    created_at: Created;
  };
};

type Created = ColumnType<Date, Date | undefined, never>;
export type PrincipalStatus = 'ACTIVE' | 'INVITED' | 'SUSPENDED' | 'DEACTIVATED' | 'PROVISIONED';

/** All access is through one of these two; a transaction is always passed explicitly. */
export type Database = Kysely<Tables>;
export type Tx = Database | Transaction<Tables>;
