/** Tables of clients, refresh tokens and deleted principals. */
export const IDENTITY_MIGRATION = [
  `alter table catalog.principal add column kind text not null default 'USER' check (kind in ('USER', 'SERVICE'))`,
  `create table catalog.oauth_client (
    client_id text collate "C" primary key,
    principal_id uuid not null unique references catalog.principal (id) on delete cascade,
    scopes text[] not null,
    secret_sha256 bytea not null unique,
    previous_sha256 bytea unique,
    previous_until timestamptz,
    created_at timestamptz not null default now(),
    rotated_at timestamptz
  )`,
  `create table catalog.refresh_family (
    id uuid primary key,
    client_id text collate "C" not null references catalog.oauth_client (client_id) on delete cascade,
    secret_sha256 bytea not null,
    scopes text[] not null,
    session_epoch integer not null,
    authenticated_at timestamptz not null,
    expires_at timestamptz not null
  )`,
  `create index on catalog.refresh_family (client_id, expires_at)`,
  `create index on catalog.refresh_family (expires_at)`,
  // Tokens outlive the row of their principal: whoever deletes it, they are refused, here and after every restart.
  `create table catalog.dropped_principal (
    id uuid primary key,
    dropped_at timestamptz not null default now()
  )`,
  `create index on catalog.dropped_principal (dropped_at)`,
  `create function catalog.principal_dropped() returns trigger language plpgsql as $$
  begin
    insert into catalog.dropped_principal (id) values (old.id) on conflict do nothing;
    perform pg_notify('skein_session_epoch', json_build_object('principal', old.id, 'epoch', 2147483647)::text);
    return null;
  end $$`,
  `create trigger principal_dropped after delete on catalog.principal
    for each row execute function catalog.principal_dropped()`,
];
