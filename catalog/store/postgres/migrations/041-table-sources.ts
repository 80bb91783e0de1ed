/**
 * The tables that the rows of materialized views were made of, by the ids of tables. Policies of these close the view's table for whom they
 * concern. A table never loses a source: snapshots of earlier refreshes can be read, and its files.
 */
const SOURCES: readonly string[] = [
  `create table catalog.table_source (
    table_id uuid not null,
    source_id uuid not null,
    is_policed boolean not null default false,
    primary key (table_id, source_id)
  )`,
  `create index on catalog.table_source (source_id)`,
  `create function catalog.is_policed(uuid) returns boolean language sql stable as $$
    select exists (select from catalog.policy_binding b where b.table_id = $1)
      or exists (select from catalog.table_source s where s.table_id = $1 and s.is_policed)
  $$`,
];

const TRIGGERS: readonly string[] = [
  // Those made of a source that is gone with its policies stay closed.
  `create function catalog.police_new_source() returns trigger language plpgsql as $$
  begin
    new.is_policed := exists (select from catalog.policy_binding b where b.table_id = new.source_id)
      or exists (select from catalog.table_source s where s.source_id = new.source_id and s.is_policed);
    return new;
  end $$`,
  `create trigger policed_source before insert on catalog.table_source
    for each row execute function catalog.police_new_source()`,
  `create function catalog.note_policed_source() returns trigger language plpgsql as $$
  begin
    update catalog.folder_claim f set is_policed = catalog.is_policed(f.owner_id)
      where f.owner_id = new.table_id and f.is_policed <> catalog.is_policed(f.owner_id);
    -- Lists show no figures of a view that is closed.
    insert into catalog.list_change (catalog_id, object_id, is_namespace, place_namespace_id, place_name)
      select t.catalog_id, t.id, false, t.namespace_id, t.name from catalog.iceberg_table t where t.id = new.table_id;
    return null;
  end $$`,
  `create trigger policed_source_noted after insert or update on catalog.table_source
    for each row execute function catalog.note_policed_source()`,
  `create or replace function catalog.note_policed_folders() returns trigger language plpgsql as $$
  declare
    changed uuid := case when tg_op = 'DELETE' then old.table_id else new.table_id end;
    bound boolean := exists (select from catalog.policy_binding b where b.table_id = changed);
  begin
    if not bound and not exists (select from catalog.iceberg_table t where t.id = changed)
      and not exists (select from catalog.dropped_table d where d.id = changed) then
      return null;
    end if;
    update catalog.folder_claim f set is_policed = catalog.is_policed(changed) where f.owner_id = changed;
    update catalog.table_source s set is_policed = bound where s.source_id = changed and s.is_policed <> bound;
    return null;
  end $$`,
  `create or replace function catalog.police_new_folder() returns trigger language plpgsql as $$
  begin
    new.is_policed := catalog.is_policed(new.owner_id);
    return new;
  end $$`,
  `create or replace function catalog.forget_bindings() returns trigger language plpgsql as $$
  begin
    if exists (select from catalog.iceberg_table t where t.id = old.id)
      or exists (select from catalog.dropped_table d where d.id = old.id) then
      return null;
    end if;
    delete from catalog.policy_binding b where b.table_id = old.id;
    delete from catalog.table_source s where s.table_id = old.id or s.source_id = old.id and not s.is_policed;
    return null;
  end $$`,
];

/**
 * The sources of the views that there are, as the summaries of their snapshots name them: by the UUIDs of documents, each view with those of
 * its own; those of views that read views are added after that, until there are no more. A summary that cannot be read names none.
 */
const FILL = `do $$
declare
  stored record;
  added bigint;
begin
  for stored in
    select t.id, t.catalog_id, t.metadata from catalog.iceberg_view v
    join catalog.iceberg_table t on t.namespace_id = v.storage_namespace_id and t.name = v.storage_name
  loop
    begin
      insert into catalog.table_source (table_id, source_id)
      select distinct stored.id, s.id
      from jsonb_array_elements(coalesce(stored.metadata::jsonb -> 'snapshots', '[]')) as n,
        jsonb_array_elements(coalesce((n -> 'summary' ->> 'refresh-state')::jsonb -> 'source-states', '[]')) as e
      join catalog.iceberg_table s on substring(left(s.metadata, 1000) from '"table-uuid":"([0-9a-f-]{36})"') = e ->> 'uuid'
      where s.id <> stored.id
      on conflict do nothing;
    exception when others then
      raise warning 'the sources of the rows of table % are not known', stored.id;
    end;
  end loop;
  loop
    insert into catalog.table_source (table_id, source_id)
    select distinct a.table_id, b.source_id from catalog.table_source a
    join catalog.table_source b on b.table_id = a.source_id where b.source_id <> a.table_id
    on conflict do nothing;
    get diagnostics added = row_count;
    exit when added = 0;
  end loop;
end $$`;

export const TABLE_SOURCES_MIGRATION: readonly string[] = [...SOURCES, ...TRIGGERS, FILL];
