const FOLDED = (column: string): string =>
  `translate(${column}, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')`;

/** Scopes of the built-in role `public`: all but `catalog:write`. */
const PUBLIC_SCOPES = `array['catalog:read', 'namespace:read', 'namespace:write', 'table:read', 'table:write', 'table:data']`;
const ALL_SCOPES = `array['catalog:read', 'catalog:write', 'namespace:read', 'namespace:write', 'table:read', 'table:write', 'table:data']`;

const COLUMNS: readonly string[] = [
  `alter table catalog.tenant
    add column password_min_length integer not null default 12,
    add column password_classes integer not null default 3,
    add column password_history integer not null default 5`,
  // Names that differ in case only may be there from before; each but the oldest of them is found by its exact spelling alone.
  `alter table catalog.principal
    add column username_folded text collate "C" generated always as (${FOLDED('username')}) stored,
    add column has_double boolean not null default false,
    add column email text collate "C",
    add column email_folded text collate "C" generated always as (${FOLDED('email')}) stored,
    add column display_name text,
    add column default_role text collate "C",
    add column default_warehouse text collate "C",
    add column must_change_password boolean not null default false,
    add column comment text,
    add column identity_source text not null default 'NATIVE' check (identity_source = 'NATIVE'),
    add column legal_hold boolean not null default false,
    add column legal_hold_reason text,
    add column updated_at timestamptz not null default now(),
    add column deactivated_at timestamptz,
    add column archived_at timestamptz`,
  `update catalog.principal p set has_double = true where exists (
    select from catalog.principal q where q.tenant_id = p.tenant_id and q.username_folded = p.username_folded
      and (q.created_at, q.id) < (p.created_at, p.id))`,
  `create unique index principal_name on catalog.principal (tenant_id, username_folded) where not has_double`,
  `create unique index principal_email on catalog.principal (tenant_id, email_folded)`,
  `create index principal_list on catalog.principal (tenant_id, kind, username)`,
  `create index principal_deactivated on catalog.principal (deactivated_at)
    where deactivated_at is not null and archived_at is null`,
  // These change with every sign-in. An update of the principal itself would make every coordinator give up its leased answers.
  `create table catalog.principal_sign_in (
    principal_id uuid primary key references catalog.principal (id) on delete cascade,
    login_failures integer not null default 0,
    locked_until timestamptz,
    last_login_at timestamptz
  )`,
  `create table catalog.password_history (
    principal_id uuid not null references catalog.principal (id) on delete cascade,
    password_hash text not null,
    set_at timestamptz not null
  )`,
  `create index on catalog.password_history (principal_id, set_at)`,
];

const ROLES: readonly string[] = [
  `create table catalog.role (
    id uuid primary key default gen_random_uuid(),
    tenant_id uuid not null references catalog.tenant (id) on delete cascade,
    name text collate "C" not null,
    name_folded text collate "C" generated always as (${FOLDED('name')}) stored,
    scopes text[] not null default '{}',
    comment text,
    is_built_in boolean not null default false,
    created_at timestamptz not null default now(),
    unique (tenant_id, name)
  )`,
  `create index on catalog.role (tenant_id, name_folded)`,
  `create table catalog.role_grant (
    principal_id uuid not null references catalog.principal (id) on delete cascade,
    role_id uuid not null references catalog.role (id),
    granted_at timestamptz not null default now(),
    primary key (principal_id, role_id)
  )`,
  `create index on catalog.role_grant (role_id)`,
  `create table catalog.privilege_grant (
    principal_id uuid not null references catalog.principal (id) on delete cascade,
    privilege text not null check (privilege in ('MANAGE USERS', 'MANAGE PATS', 'MANAGE SERVICE ACCOUNTS')),
    granted_at timestamptz not null default now(),
    primary key (principal_id, privilege)
  )`,
  `create function catalog.make_built_in_roles() returns trigger language plpgsql as $$
  begin
    insert into catalog.role (tenant_id, name, scopes, comment, is_built_in) values
      (new.id, 'tenant_admin', ${ALL_SCOPES}, 'allows everything in the organisation', true),
      (new.id, 'public', ${PUBLIC_SCOPES}, 'everybody has it', true);
    return null;
  end $$`,
  `create trigger built_in_roles after insert on catalog.tenant
    for each row execute function catalog.make_built_in_roles()`,
  // The release before writes roles as an array of names, and reads them so; tokens are made from the array.
  `create function catalog.grant_named_roles() returns trigger language plpgsql as $$
  begin
    insert into catalog.role (tenant_id, name)
      select distinct new.tenant_id, u.name from unnest(new.roles) as u (name) on conflict do nothing;
    insert into catalog.role_grant (principal_id, role_id)
      select new.id, r.id from catalog.role r
      where r.tenant_id = new.tenant_id and r.name = any (new.roles) and r.name <> 'public';
    return null;
  end $$`,
  `create trigger named_roles after insert on catalog.principal
    for each row when (cardinality(new.roles) > 0) execute function catalog.grant_named_roles()`,
  `create function catalog.name_granted_roles() returns trigger language plpgsql as $$
  declare
    who uuid := case when tg_op = 'DELETE' then old.principal_id else new.principal_id end;
    names text[];
  begin
    select coalesce(array_agg(r.name order by r.name), '{}') into names
      from catalog.role_grant g join catalog.role r on r.id = g.role_id where g.principal_id = who;
    update catalog.principal set roles = names, session_epoch = session_epoch + 1
      where id = who and not (roles @> names and roles <@ names);
    return null;
  end $$`,
  `create trigger granted_roles after insert or delete on catalog.role_grant
    for each row execute function catalog.name_granted_roles()`,
  // Rows of the release before.
  `insert into catalog.role (tenant_id, name, scopes, comment, is_built_in)
    select id, 'tenant_admin', ${ALL_SCOPES}, 'allows everything in the organisation', true from catalog.tenant`,
  `insert into catalog.role (tenant_id, name, scopes, comment, is_built_in)
    select id, 'public', ${PUBLIC_SCOPES}, 'everybody has it', true from catalog.tenant`,
  `insert into catalog.role (tenant_id, name)
    select distinct p.tenant_id, u.name from catalog.principal p, unnest(p.roles) as u (name) on conflict do nothing`,
  `insert into catalog.role_grant (principal_id, role_id)
    select distinct p.id, r.id from catalog.principal p, unnest(p.roles) as u (name), catalog.role r
    where r.name = u.name and r.tenant_id = p.tenant_id and r.name <> 'public'`,
];

const CREDENTIALS: readonly string[] = [
  `create table catalog.access_token (
    id uuid primary key default gen_random_uuid(),
    principal_id uuid not null references catalog.principal (id) on delete cascade,
    name text collate "C" not null,
    name_folded text collate "C" generated always as (${FOLDED('name')}) stored,
    sha256 bytea not null unique,
    scopes text[] not null,
    created_by uuid not null,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    unique (principal_id, name_folded)
  )`,
  `create table catalog.keypair (
    id uuid primary key default gen_random_uuid(),
    principal_id uuid not null references catalog.principal (id) on delete cascade,
    key_id text collate "C" not null,
    public_key text not null,
    algorithm text not null check (algorithm in ('RS256', 'RS512', 'ES256', 'ES384')),
    created_at timestamptz not null,
    revoked_at timestamptz
  )`,
  `create unique index keypair_active on catalog.keypair (principal_id, key_id) where revoked_at is null`,
  `create table catalog.invitation (
    id uuid primary key default gen_random_uuid(),
    principal_id uuid not null references catalog.principal (id) on delete cascade,
    sha256 bytea not null unique,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    redeemed_at timestamptz
  )`,
  `create index on catalog.invitation (principal_id)`,
];

const AUDIT: readonly string[] = [
  `create table catalog.user_audit_log (
    id uuid not null,
    tenant_id uuid not null,
    actor_id uuid,
    target_id uuid,
    target_name text,
    event_type text not null,
    details jsonb not null,
    created_at timestamptz not null
  ) partition by range (created_at)`,
  `create index on catalog.user_audit_log (tenant_id, created_at, id)`,
  `create index on catalog.user_audit_log (tenant_id, event_type, created_at, id)`,
  // It takes the rows whose month has no partition, and is never dropped.
  `create table catalog.user_audit_log_other partition of catalog.user_audit_log default`,
  `create function catalog.keep_audit_log() returns trigger language plpgsql as $$
  begin
    raise exception 'rows of the audit log are neither changed nor deleted' using errcode = '42501';
  end $$`,
  `create trigger audit_rows_stay before update or delete on catalog.user_audit_log
    for each row execute function catalog.keep_audit_log()`,
  `create trigger audit_log_stays before truncate on catalog.user_audit_log
    for each statement execute function catalog.keep_audit_log()`,
  `create table catalog.webhook (
    id uuid primary key default gen_random_uuid(),
    tenant_id uuid not null references catalog.tenant (id) on delete cascade,
    name text collate "C" not null,
    name_folded text collate "C" generated always as (${FOLDED('name')}) stored,
    url text not null,
    secret_sealed text not null,
    events text[] not null,
    created_at timestamptz not null,
    unique (tenant_id, name_folded)
  )`,
  `create table catalog.webhook_delivery (
    id bigint generated always as identity primary key,
    webhook_id uuid not null references catalog.webhook (id) on delete cascade,
    event_id uuid not null,
    event_type text not null,
    body text not null,
    status text not null default 'pending' check (status in ('pending', 'retrying', 'delivered', 'failed')),
    attempts integer not null default 0,
    last_status integer,
    last_error text,
    created_at timestamptz not null,
    due_at timestamptz,
    delivered_at timestamptz,
    unique (webhook_id, event_id)
  )`,
  `create index webhook_delivery_due on catalog.webhook_delivery (due_at) where due_at is not null`,
  `create index on catalog.webhook_delivery (webhook_id, id)`,
];

/**
 * Users, roles, privileges, tokens, keys, invitations, the audit log and webhooks. The triggers keep roles as rows and as the array of names
 * that the release before reads and writes.
 */
export const PRINCIPALS_MIGRATION: readonly string[] = [...COLUMNS, ...ROLES, ...CREDENTIALS, ...AUDIT];
