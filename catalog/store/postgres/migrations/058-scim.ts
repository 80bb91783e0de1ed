/**
 * Users and groups that identity providers have sent by SCIM, and the personal access tokens by which they send: such a token is of one
 * provider, goes with it, and opens nothing else.
 */
export const SCIM_MIGRATION: readonly string[] = [
  `alter table catalog.access_token add provider_id uuid references catalog.identity_provider (id) on delete cascade`,
  `create table catalog.scim_user (
    id uuid primary key,
    provider_id uuid not null references catalog.identity_provider (id) on delete cascade,
    principal_id uuid not null references catalog.principal (id) on delete cascade,
    user_name text collate "C" not null,
    user_name_folded text collate "C" not null,
    external_id text collate "C",
    emails_folded text[] not null,
    resource jsonb not null,
    version bigint not null default 1,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    unique (provider_id, user_name_folded),
    unique (provider_id, principal_id)
  )`,
  `create unique index scim_user_external on catalog.scim_user (provider_id, external_id)`,
  `create index on catalog.scim_user (provider_id, id)`,
  `create index on catalog.scim_user using gin (emails_folded)`,
  `create index on catalog.scim_user (principal_id)`,
  `create table catalog.scim_group (
    id uuid primary key,
    provider_id uuid not null references catalog.identity_provider (id) on delete cascade,
    name text collate "C" not null,
    external_id text collate "C",
    version bigint not null default 1,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    unique (provider_id, name)
  )`,
  `create index on catalog.scim_group (provider_id, id)`,
];
