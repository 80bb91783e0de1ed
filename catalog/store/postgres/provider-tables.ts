import type { ColumnType, Generated } from 'kysely';
import type { JsonObject } from '#shared/json.ts';
import type { TrustCondition } from '#shared/principal/principal-request.ts';

/** The tables of identity providers; a part of `Tables`. */
export type ProviderTables = {
  identity_provider: {
    id: string;
    tenant_id: string;
    name: string;
    name_folded: ColumnType<string, never, never>;
    /** The `iss` of its tokens; never changes, because subjects are the issuer's. */
    issuer: string;
    client_id: string | null;
    /** Sealed with a key of `cluster.secrets_key_file`. */
    client_secret_sealed: string | null;
    audiences: string[];
    username_claim: string;
    email_claim: string;
    groups_claim: string;
    provision: 'NONE' | 'USERS';
    domains: string[];
    label: string | null;
    enabled: boolean;
    /** A tenant_admin has made it: nobody else's signs in an administrator. */
    by_admin: boolean;
    created_by: string;
    created_at: Date;
    /** It has sent groups by SCIM: those of its tokens do not count. */
    scim_groups: Generated<boolean>;
  };
  scim_user: {
    id: string;
    provider_id: string;
    principal_id: string;
    user_name: string;
    user_name_folded: string;
    external_id: string | null;
    emails_folded: string[];
    /** The last word of the provider. */
    active: Generated<boolean>;
    /** The rest of the provider's description. */
    resource: ColumnType<JsonObject, string, string>;
    /** Decimal text (int8). */
    version: Generated<string>;
    created_at: Date;
    updated_at: Date;
  };
  scim_group: {
    id: string;
    provider_id: string;
    name: string;
    external_id: string | null;
    version: Generated<string>;
    created_at: Date;
    updated_at: Date;
  };
  group_member: { provider_id: string; group_name: string; principal_id: string };
  group_role: {
    provider_id: string;
    group_name: string;
    role_id: string;
    with_administration: boolean;
    granted_at: Date;
  };
  /** Sign-ins at a provider that have begun in a browser. */
  outside_sign_in: {
    state_sha256: Buffer;
    browser_sha256: Buffer;
    provider_id: string;
    nonce: string;
    verifier: string;
    is_again: boolean;
    links: string | null;
    ends_at: Date;
  };
  /** Users by the provider that signs them in, and its name for them. */
  principal_identity: {
    provider_id: string;
    subject: string;
    principal_id: string;
    linked_at: Date;
    /** The provider's id of the person in SCIM. */
    external_id: string;
    /** The giver of the password by which the user was linked; null: the user himself, or the provider has made him. */
    given_by: string | null;
  };
  /** The tokens that are a service account. */
  account_trust: {
    provider_id: string;
    principal_id: string;
    /** The subject, when a condition says that it equals this; null: any may meet the conditions. */
    subject: string | null;
    conditions: ColumnType<readonly TrustCondition[], string, string>;
    /** Its tokens may have these: those of who has made it. */
    scopes: string[];
    created_by: Generated<string>;
    created_at: Date;
  };
};
