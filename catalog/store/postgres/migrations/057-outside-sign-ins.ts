/** Sign-ins of people at an identity provider that have begun and not come back yet: each is bound to a browser, and good once. */
export const OUTSIDE_SIGN_INS_MIGRATION: readonly string[] = [
  `create table catalog.outside_sign_in (
    state_sha256 bytea primary key,
    browser_sha256 bytea not null,
    provider_id uuid not null references catalog.identity_provider (id) on delete cascade,
    nonce text not null,
    verifier text not null,
    is_again boolean not null,
    links uuid,
    ends_at timestamptz not null
  )`,
  `create index on catalog.outside_sign_in (ends_at)`,
];
