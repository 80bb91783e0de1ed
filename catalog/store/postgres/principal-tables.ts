import type { ColumnType, Generated } from 'kysely';
import type { JsonObject } from '#shared/json.ts';
import type { Privilege } from '#shared/principal/privilege.ts';
import type { KeyAlgorithm } from '#shared/principal/key-algorithm.ts';

/** The tables of users, roles, credentials, the audit log and webhooks; a part of `Tables`. */
export type PrincipalTables = {
  /** Counters of sign-ins; a principal without a row has none. */
  principal_sign_in: {
    principal_id: string;
    login_failures: Generated<number>;
    /** Passwords are refused until then. */
    locked_until: Date | null;
    last_login_at: Date | null;
  };
  /** Sign-ins of people by browser, from the right password on. */
  browser_sign_in: {
    id: string;
    secret_sha256: Buffer;
    principal_id: string;
    step: 'factor' | 'new password' | 'set up factor' | 'done';
    session_epoch: number;
    amr: string[];
    address: string;
    agent: string;
    authenticated_at: Date;
    ends_at: Date;
    /** The challenge of a passkey that its page has been given, good for one answer. */
    challenge: Generated<string | null>;
  };
  /** Sign-ins of people by programs; the id is the `sid` of their tokens. */
  app_sign_in: {
    id: string;
    principal_id: string;
    browser_sign_in: string;
    client_id: string;
    refresh_sha256: Buffer;
    scopes: string[];
    session_epoch: number;
    amr: string[];
    address: string;
    agent: string;
    authenticated_at: Date;
    started_at: Date;
    ends_at: Date;
  };
  /** Codes with which such sign-ins begin. */
  sign_in_code: {
    sha256: Buffer;
    principal_id: string;
    browser_sign_in: string;
    client_id: string;
    redirect_uri: string;
    challenge: string;
    scopes: string[];
    expires_at: Date;
    /** The sign-in that it was taken for. */
    app_sign_in: string | null;
  };
  /** Those that have ended before their time; the trigger of `app_sign_in` writes them. */
  ended_sign_in: { id: string; until: Date };
  /** The authenticator app of a user. */
  authenticator: {
    principal_id: string;
    /** Sealed with a key of `cluster.secrets_key_file`. */
    secret_sealed: string;
    /** The time step of the last code that was taken; decimal text (int8). */
    used_step: ColumnType<string, number, number>;
    /** The one who had given the password by which it was set up; null: nobody else. */
    given_by: string | null;
    created_at: Date;
    used_at: Generated<Date | null>;
  };
  /** An authenticator that has shown no code yet. */
  authenticator_enrolment: {
    principal_id: string;
    secret_sealed: string;
    /** The sign-in by browser that has begun it, and may see its secret again; null: a statement of SQL. */
    sign_in: string | null;
    ends_at: Date;
  };
  passkey: {
    id: string;
    principal_id: string;
    /** Base64url. */
    credential_id: string;
    /** COSE. */
    public_key: Buffer;
    /** Decimal text (int8). */
    counter: ColumnType<string, number, number>;
    transports: string[];
    name: string;
    given_by: string | null;
    created_at: Date;
    used_at: Generated<Date | null>;
  };
  recovery_code: { principal_id: string; sha256: Buffer; used_at: Generated<Date | null> };
  /** Former passwords, as PHC strings of Argon2id. */
  password_history: { principal_id: string; password_hash: string; set_at: Date };
  role: {
    id: Generated<string>;
    tenant_id: string;
    name: string;
    name_folded: ColumnType<string, never, never>;
    scopes: readonly string[];
    comment: string | null;
    is_built_in: Generated<boolean>;
    created_at: ColumnType<Date, Date | undefined, never>;
  };
  /** A trigger writes the names of a principal's roles into the principal, and raises its session epoch. */
  role_grant: { principal_id: string; role_id: string; granted_at: ColumnType<Date, Date | undefined, never> };
  privilege_grant: {
    principal_id: string;
    privilege: Privilege;
    granted_at: ColumnType<Date, Date | undefined, never>;
  };
  access_token: {
    id: Generated<string>;
    principal_id: string;
    name: string;
    name_folded: ColumnType<string, never, never>;
    sha256: Buffer;
    scopes: readonly string[];
    created_by: string;
    /** Another who has given its maker what he had signed in with. */
    given_by: Generated<string | null>;
    /** Opens SCIM of this provider, and nothing else. */
    provider_id: Generated<string | null>;
    created_at: Date;
    expires_at: Date;
  };
  used_assertion: { principal_id: string; jti_sha256: Buffer; expires_at: Date };
  keypair: {
    id: Generated<string>;
    principal_id: string;
    key_id: string;
    /** PEM. */
    public_key: string;
    algorithm: KeyAlgorithm;
    created_by: Generated<string | null>;
    /** Null: those of the account's roles. */
    scopes: Generated<readonly string[] | null>;
    created_at: Date;
    revoked_at: Date | null;
  };
  invitation: {
    id: Generated<string>;
    principal_id: string;
    sha256: Buffer;
    created_by: Generated<string | null>;
    created_at: Date;
    expires_at: Date;
    redeemed_at: Date | null;
  };
  /** No row is changed or deleted: a trigger refuses it. */
  user_audit_log: {
    id: string;
    tenant_id: string;
    /** Null: the operator of the cluster, or the catalog by itself. */
    actor_id: string | null;
    target_id: string | null;
    target_name: string | null;
    event_type: string;
    details: ColumnType<JsonObject, string, never>;
    created_at: Date;
  };
  webhook: {
    id: Generated<string>;
    tenant_id: string;
    name: string;
    name_folded: ColumnType<string, never, never>;
    url: string;
    /** Sealed with a key of `cluster.secrets_key_file`. */
    secret_sealed: string;
    /** Names and prefixes of events; the empty prefix is every event. */
    events: readonly string[];
    created_at: Date;
  };
  webhook_delivery: {
    /** Ascending: the order of events. Decimal text (int8). */
    id: Generated<string>;
    webhook_id: string;
    event_id: string;
    event_type: string;
    /** The bytes that are sent. */
    body: string;
    status: Generated<DeliveryStatus>;
    attempts: Generated<number>;
    /** HTTP status of the last answer. */
    last_status: Generated<number | null>;
    last_error: Generated<string | null>;
    created_at: Date;
    /** When it is sent next; null once it is delivered or failed. */
    due_at: Date | null;
    delivered_at: Generated<Date | null>;
  };
};

export type DeliveryStatus = 'pending' | 'retrying' | 'delivered' | 'failed';
