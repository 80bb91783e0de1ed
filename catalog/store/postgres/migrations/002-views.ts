/**
 * Views, functions, metrics reports and scan plans. Tables and views of a namespace share one name space, which two unique indexes cannot
 * enforce. A trigger on both locks the name and looks into the other table; its violations carry the constraint names that `nameTakenBy`
 * reads.
 */
export const VIEWS_MIGRATION: readonly string[] = [
  `create table catalog.iceberg_view (
    id uuid primary key default gen_random_uuid(),
    catalog_id uuid not null references catalog.catalog (id),
    namespace_id uuid not null references catalog.namespace (id),
    name text collate "C" not null,
    name_folded text collate "C" not null,
    location text collate "C" not null,
    metadata_location text not null,
    metadata text not null,
    version integer not null,
    created_at timestamptz not null default now(),
    unique (namespace_id, name)
  )`,
  `create index on catalog.iceberg_view (namespace_id, name_folded)`,
  `create index on catalog.iceberg_view (catalog_id)`,
  `create function catalog.guard_name() returns trigger language plpgsql as $$
  begin
    perform pg_advisory_xact_lock(hashtextextended('name ' || new.namespace_id || ' ' || new.name, 0));
    if tg_table_name = 'iceberg_view' then
      if exists (select from catalog.iceberg_table t where t.namespace_id = new.namespace_id and t.name = new.name) then
        raise exception using errcode = 'unique_violation', constraint = 'name_taken_by_table', message = 'a table has this name';
      end if;
    elsif exists (select from catalog.iceberg_view v where v.namespace_id = new.namespace_id and v.name = new.name) then
      raise exception using errcode = 'unique_violation', constraint = 'name_taken_by_view', message = 'a view has this name';
    end if;
    return new;
  end $$`,
  `create trigger guard_name before insert or update of namespace_id, name on catalog.iceberg_table
    for each row execute function catalog.guard_name()`,
  `create trigger guard_name before insert or update of namespace_id, name on catalog.iceberg_view
    for each row execute function catalog.guard_name()`,
  `create table catalog.iceberg_function (
    id uuid primary key default gen_random_uuid(),
    catalog_id uuid not null references catalog.catalog (id),
    namespace_id uuid not null references catalog.namespace (id),
    name text collate "C" not null,
    metadata_location text not null,
    metadata text not null,
    created_at timestamptz not null default now(),
    unique (namespace_id, name)
  )`,
  `create index on catalog.iceberg_function (catalog_id)`,
  `create table catalog.metrics_report (
    id bigint generated always as identity primary key,
    table_id uuid not null references catalog.iceberg_table (id) on delete cascade,
    principal text not null,
    report text not null,
    reported_at timestamptz not null
  )`,
  `create index on catalog.metrics_report (table_id, id)`,
  `create table catalog.scan_plan (
    id uuid primary key,
    table_id uuid not null references catalog.iceberg_table (id) on delete cascade,
    scan text not null,
    expires_at timestamptz not null
  )`,
  `create index on catalog.scan_plan (table_id, expires_at)`,
];
