/**
 * Sign-ins of people by programs, such as the terminal: each begins with a code that a browser has fetched, and is the `sid` of its tokens.
 * One that ends before its time leaves a row until its last token is over, and tells every catalog process.
 */
export const APP_SIGN_INS_MIGRATION: readonly string[] = [
  `create table catalog.app_sign_in (
    id uuid primary key,
    principal_id uuid not null references catalog.principal (id) on delete cascade,
    browser_sign_in uuid not null,
    client_id text not null,
    refresh_sha256 bytea not null,
    scopes text[] not null,
    session_epoch integer not null,
    amr text[] not null,
    address text not null,
    agent text not null,
    authenticated_at timestamptz not null,
    started_at timestamptz not null,
    ends_at timestamptz not null
  )`,
  `create index on catalog.app_sign_in (principal_id, started_at)`,
  `create index on catalog.app_sign_in (browser_sign_in)`,
  `create index on catalog.app_sign_in (ends_at)`,
  `create table catalog.sign_in_code (
    sha256 bytea primary key,
    principal_id uuid not null references catalog.principal (id) on delete cascade,
    browser_sign_in uuid not null,
    client_id text not null,
    redirect_uri text not null,
    challenge text not null,
    scopes text[] not null,
    expires_at timestamptz not null,
    app_sign_in uuid
  )`,
  `create index on catalog.sign_in_code (principal_id)`,
  `create index on catalog.sign_in_code (expires_at)`,
  `create table catalog.ended_sign_in (
    id uuid primary key,
    until timestamptz not null
  )`,
  `create index on catalog.ended_sign_in (until)`,
  `create function catalog.end_app_sign_in() returns trigger language plpgsql as $$
  begin
    if old.ends_at <= now() then return null; end if;
    insert into catalog.ended_sign_in (id, until) values (old.id, old.ends_at) on conflict do nothing;
    perform pg_notify('skein_ended_sign_in', json_build_object(
      'id', old.id, 'until', floor(extract(epoch from old.ends_at) * 1000))::text);
    return null;
  end $$`,
  `create trigger app_sign_in_ended after delete on catalog.app_sign_in
    for each row execute function catalog.end_app_sign_in()`,
];
