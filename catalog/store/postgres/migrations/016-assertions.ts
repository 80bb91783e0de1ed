/** The assertions that service accounts have signed in with, which are good once. */
export const ASSERTIONS_MIGRATION: readonly string[] = [
  `create table catalog.used_assertion (
    principal_id uuid not null references catalog.principal (id) on delete cascade,
    jti_sha256 bytea not null,
    expires_at timestamptz not null,
    primary key (principal_id, jti_sha256)
  )`,
  `create index on catalog.used_assertion (expires_at)`,
];
