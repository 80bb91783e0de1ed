/**
 * Row-access and masking policies, the tables that their bodies read, and what they are bound to. Bindings are by ids of tables and fields, so
 * that they survive renames; those of a dropped table stay while it can be had back.
 */
const TABLES: readonly string[] = [
  `create table catalog.policy (
    id uuid primary key default gen_random_uuid(),
    tenant_id uuid not null references catalog.tenant (id),
    namespace_id uuid not null references catalog.namespace (id),
    kind text not null check (kind in ('row_access', 'masking')),
    name text collate "C" not null,
    name_folded text collate "C" not null,
    arguments jsonb not null,
    returns text not null,
    body text not null,
    version bigint not null default 1,
    owner text not null,
    created_at timestamptz not null default now(),
    unique (namespace_id, name_folded)
  )`,
  `create index on catalog.policy (tenant_id, kind)`,
  // The body spells a table by these names. While the policy is bound it has them.
  `create table catalog.policy_mapping (
    policy_id uuid not null references catalog.policy (id) on delete cascade,
    table_id uuid not null,
    catalog_name text collate "C" not null,
    path text collate "C" not null,
    name text collate "C" not null,
    field_ids integer[],
    primary key (policy_id, table_id)
  )`,
  `create index on catalog.policy_mapping (table_id)`,
  `create table catalog.policy_binding (
    table_id uuid not null,
    policy_id uuid not null references catalog.policy (id),
    kind text not null check (kind in ('row_access', 'masking')),
    field_ids integer[] not null,
    masked_field_id integer,
    bound_at timestamptz not null default now(),
    check ((kind = 'masking') = (masked_field_id is not null))
  )`,
  `create index on catalog.policy_binding (policy_id)`,
  `create unique index policy_binding_row on catalog.policy_binding (table_id, policy_id) where kind = 'row_access'`,
  `create unique index policy_binding_mask on catalog.policy_binding (table_id, masked_field_id) where kind = 'masking'`,
  `create index on catalog.policy_binding (table_id)`,
];

const TRIGGERS: readonly string[] = [
  // INFORMATION_SCHEMA shows what is bound to a table.
  `create function catalog.note_binding_change() returns trigger language plpgsql as $$
  declare
    changed uuid := case when tg_op = 'DELETE' then old.table_id else new.table_id end;
  begin
    insert into catalog.list_change (catalog_id, object_id, is_namespace, place_namespace_id, place_name)
      select t.catalog_id, t.id, false, t.namespace_id, t.name from catalog.iceberg_table t where t.id = changed;
    return null;
  end $$`,
  `create trigger list_changed after insert or delete on catalog.policy_binding
    for each row execute function catalog.note_binding_change()`,
  // A table that is gone for good has no bindings. An UNDROP deletes its row here and inserts it there in one transaction.
  `create function catalog.forget_bindings() returns trigger language plpgsql as $$
  begin
    delete from catalog.policy_binding b where b.table_id = old.id
      and not exists (select from catalog.iceberg_table t where t.id = old.id)
      and not exists (select from catalog.dropped_table d where d.id = old.id);
    return null;
  end $$`,
  `create constraint trigger bindings_go after delete on catalog.iceberg_table
    deferrable initially deferred for each row execute function catalog.forget_bindings()`,
  `create constraint trigger bindings_go after delete on catalog.dropped_table
    deferrable initially deferred for each row execute function catalog.forget_bindings()`,
];

const PRIVILEGES: readonly string[] = [
  `alter table catalog.privilege_grant drop constraint privilege_grant_privilege_check`,
  `alter table catalog.privilege_grant add constraint privilege_grant_privilege_check check (
    privilege in ('MANAGE USERS', 'MANAGE PATS', 'MANAGE SERVICE ACCOUNTS', 'MANAGE POLICIES', 'BYPASS POLICIES'))`,
];

export const POLICIES_MIGRATION: readonly string[] = [...TABLES, ...TRIGGERS, ...PRIVILEGES];
