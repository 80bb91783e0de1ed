const FOLDED = (column: string): string =>
  `translate(${column}, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')`;

/**
 * Identity providers of tenants, the users that they sign in, and the service accounts that their tokens are trusted for. A user is known by
 * (provider, subject), and by nothing else.
 */
export const IDENTITY_PROVIDERS_MIGRATION: readonly string[] = [
  `create table catalog.identity_provider (
    id uuid primary key,
    tenant_id uuid not null references catalog.tenant (id) on delete cascade,
    name text collate "C" not null,
    name_folded text collate "C" generated always as (${FOLDED('name')}) stored,
    issuer text collate "C" not null,
    client_id text collate "C",
    client_secret_sealed text,
    audiences text[] not null,
    username_claim text not null,
    email_claim text not null,
    groups_claim text not null,
    provision text not null check (provision in ('NONE', 'USERS')),
    domains text[] not null,
    label text,
    enabled boolean not null,
    by_admin boolean not null,
    created_by uuid not null,
    created_at timestamptz not null,
    unique (tenant_id, name_folded)
  )`,
  `create index on catalog.identity_provider (issuer)`,
  `create table catalog.principal_identity (
    provider_id uuid not null references catalog.identity_provider (id) on delete cascade,
    subject text collate "C" not null,
    principal_id uuid not null references catalog.principal (id) on delete cascade,
    linked_at timestamptz not null,
    primary key (provider_id, subject),
    unique (principal_id, provider_id)
  )`,
  `create table catalog.account_trust (
    provider_id uuid not null references catalog.identity_provider (id) on delete cascade,
    principal_id uuid not null references catalog.principal (id) on delete cascade,
    subject text collate "C",
    conditions jsonb not null,
    scopes text[] not null,
    created_by uuid not null,
    created_at timestamptz not null,
    primary key (provider_id, principal_id)
  )`,
  `create index on catalog.account_trust (provider_id, subject)`,
  `create index on catalog.account_trust (principal_id)`,
  `alter table catalog.principal drop constraint principal_identity_source_check`,
  `alter table catalog.principal add constraint principal_identity_source_check
    check (identity_source in ('NATIVE', 'EXTERNAL'))`,
  `alter table catalog.privilege_grant drop constraint privilege_grant_privilege_check`,
  `alter table catalog.privilege_grant add constraint privilege_grant_privilege_check check (
    privilege in ('MANAGE USERS', 'MANAGE PATS', 'MANAGE SERVICE ACCOUNTS', 'MANAGE POLICIES', 'MANAGE IDENTITY PROVIDERS',
      'BYPASS POLICIES'))`,
];
