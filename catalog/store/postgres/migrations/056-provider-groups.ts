/**
 * Groups of identity providers, who is in them, and the roles that they give. The roles of a principal, by name and by group, stand in
 * `principal.roles`; whatever changes them raises its session epoch. A group gives tenant_admin only with administration.
 */
export const PROVIDER_GROUPS_MIGRATION: readonly string[] = [
  `create table catalog.group_member (
    provider_id uuid not null references catalog.identity_provider (id) on delete cascade,
    group_name text collate "C" not null,
    principal_id uuid not null references catalog.principal (id) on delete cascade,
    primary key (provider_id, group_name, principal_id)
  )`,
  `create index on catalog.group_member (principal_id)`,
  `create table catalog.group_role (
    provider_id uuid not null references catalog.identity_provider (id) on delete cascade,
    group_name text collate "C" not null,
    role_id uuid not null references catalog.role (id),
    with_administration boolean not null,
    granted_at timestamptz not null,
    primary key (provider_id, group_name, role_id)
  )`,
  `create index on catalog.group_role (role_id)`,
  // Groups that the provider has sent by SCIM: those of its tokens do not count any more.
  `alter table catalog.identity_provider add scim_groups boolean not null default false`,
  `create function catalog.name_roles_of(who uuid) returns void language plpgsql as $$
  declare names text[];
  begin
    select coalesce(array_agg(distinct r.name order by r.name), '{}') into names from (
      select g.role_id from catalog.role_grant g where g.principal_id = who
      union
      select o.role_id from catalog.group_member m
        join catalog.group_role o on o.provider_id = m.provider_id and o.group_name = m.group_name
        join catalog.role a on a.id = o.role_id
        where m.principal_id = who and (a.name <> 'tenant_admin' or o.with_administration)
    ) as has join catalog.role r on r.id = has.role_id;
    update catalog.principal set roles = names, session_epoch = session_epoch + 1
      where id = who and not (roles @> names and roles <@ names);
  end $$`,
  `create or replace function catalog.name_granted_roles() returns trigger language plpgsql as $$
  begin
    perform catalog.name_roles_of(case when tg_op = 'DELETE' then old.principal_id else new.principal_id end);
    return null;
  end $$`,
  `create trigger member_roles after insert or delete on catalog.group_member
    for each row execute function catalog.name_granted_roles()`,
  `create function catalog.name_roles_of_group() returns trigger language plpgsql as $$
  declare
    changed catalog.group_role := case when tg_op = 'DELETE' then old else new end;
    who uuid;
  begin
    for who in select m.principal_id from catalog.group_member m
      where m.provider_id = changed.provider_id and m.group_name = changed.group_name
    loop
      perform catalog.name_roles_of(who);
    end loop;
    return null;
  end $$`,
  `create trigger group_roles after insert or update or delete on catalog.group_role
    for each row execute function catalog.name_roles_of_group()`,
];
