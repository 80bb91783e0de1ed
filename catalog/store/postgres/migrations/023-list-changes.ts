/**
 * The changes of what lists show (`ListChanges`): one row for each change of a table, view or namespace, written in its transaction whatever
 * process makes it, and appended, so that no two transactions wait for each other. `changed_in` is the Postgres transaction: whether a
 * snapshot of Postgres saw it is exact, whatever the order in which transactions began and ended.
 *
 * The place is the namespace and name of a table, or of a materialized view's rows: the rows of a list on both sides depend on what stands
 * there. It is the place before and after the change.
 */
const ROWS = `create table catalog.list_change (
  catalog_id uuid not null,
  object_id uuid not null,
  is_namespace boolean not null,
  place_namespace_id uuid,
  place_name text collate "C",
  changed_in xid8 not null default pg_current_xact_id(),
  changed_at timestamptz not null default clock_timestamp()
)`;

/** One row. What was noted up to the transaction `forgotten_upto` is gone; numbers of transactions of different eras say nothing of each other. */
const ERA = `create table catalog.list_change_era (
  only_one boolean primary key default true check (only_one),
  era uuid not null,
  forgotten_upto xid8 not null
)`;

/** A place that is null, of a view that is no materialized one, is no place. */
const note = (name: string, place: (row: 'old' | 'new') => string): string => `
  create function catalog.${name}() returns trigger language plpgsql as $$
  begin
    if tg_op <> 'INSERT' then
      insert into catalog.list_change (catalog_id, object_id, is_namespace, place_namespace_id, place_name)
      values (old.catalog_id, old.id, ${place('old')});
    end if;
    if tg_op <> 'DELETE' and (tg_op = 'INSERT' or (${place('old')}) is distinct from (${place('new')})) then
      insert into catalog.list_change (catalog_id, object_id, is_namespace, place_namespace_id, place_name)
      values (new.catalog_id, new.id, ${place('new')});
    end if;
    return null;
  end $$`;

export const LIST_CHANGES_MIGRATION: readonly string[] = [
  ROWS,
  `create index on catalog.list_change (catalog_id, changed_in)`,
  `create index on catalog.list_change (changed_at)`,
  ERA,
  `insert into catalog.list_change_era (era, forgotten_upto) values (gen_random_uuid(), '0')`,
  note('note_table_change', (row) => `false, ${row}.namespace_id, ${row}.name`),
  note('note_view_change', (row) => `false, ${row}.storage_namespace_id, ${row}.storage_name`),
  note('note_namespace_change', () => `true, null::uuid, null::text`),
  // Facts and the time of expiry change nothing that a list shows.
  `create trigger list_changed after insert or delete or update of catalog_id, namespace_id, name, version on catalog.iceberg_table
    for each row execute function catalog.note_table_change()`,
  `create trigger list_changed after insert or delete
    or update of catalog_id, namespace_id, name, version, storage_namespace_id, storage_name on catalog.iceberg_view
    for each row execute function catalog.note_view_change()`,
  `create trigger list_changed after insert or delete or update on catalog.namespace
    for each row execute function catalog.note_namespace_change()`,
];
