/**
 * Sign-ins of people by browser, in the step that they have reached. A row begins at the right password: whoever shows a wrong one, or only
 * looks at the page, writes none. The browser has the secret in its cookie, and gets another at each step.
 */
export const BROWSER_SIGN_INS_MIGRATION: readonly string[] = [
  `create table catalog.browser_sign_in (
    id uuid primary key,
    secret_sha256 bytea not null unique,
    principal_id uuid not null references catalog.principal (id) on delete cascade,
    step text not null check (step in ('new password', 'done')),
    session_epoch integer not null,
    address text not null,
    agent text not null,
    authenticated_at timestamptz not null,
    ends_at timestamptz not null
  )`,
  `create index on catalog.browser_sign_in (principal_id, authenticated_at)`,
  `create index on catalog.browser_sign_in (ends_at)`,
];
