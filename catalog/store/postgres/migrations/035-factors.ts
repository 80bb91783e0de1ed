/**
 * Second factors of users: the authenticator (one of a user), an enrolment that is not finished, passkeys, and codes for who has lost them.
 * `given_by` is who had given the password by which a factor was set up: he may be who has set it up.
 */
export const FACTORS_MIGRATION: readonly string[] = [
  `create table catalog.authenticator (
    principal_id uuid primary key references catalog.principal (id) on delete cascade,
    secret_sealed text not null,
    used_step bigint not null,
    given_by uuid,
    created_at timestamptz not null,
    used_at timestamptz
  )`,
  `create table catalog.authenticator_enrolment (
    principal_id uuid primary key references catalog.principal (id) on delete cascade,
    secret_sealed text not null,
    sign_in uuid,
    ends_at timestamptz not null
  )`,
  `create table catalog.passkey (
    id uuid primary key,
    principal_id uuid not null references catalog.principal (id) on delete cascade,
    credential_id text not null unique,
    public_key bytea not null,
    counter bigint not null,
    transports text[] not null,
    name text not null,
    given_by uuid,
    created_at timestamptz not null,
    used_at timestamptz
  )`,
  `create index on catalog.passkey (principal_id)`,
  `create table catalog.recovery_code (
    principal_id uuid not null references catalog.principal (id) on delete cascade,
    sha256 bytea not null,
    used_at timestamptz,
    primary key (principal_id, sha256)
  )`,
  `alter table catalog.browser_sign_in add challenge text`,
  `alter table catalog.browser_sign_in drop constraint browser_sign_in_step_check`,
  `alter table catalog.browser_sign_in add constraint browser_sign_in_step_check
    check (step in ('factor', 'new password', 'set up factor', 'done'))`,
  `alter table catalog.tenant add mfa_required text not null default 'administrators'
    check (mfa_required in ('administrators', 'everyone'))`,
];
