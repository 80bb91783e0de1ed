/**
 * Folders of tables that policies are bound to. Nobody whom these concern reads below them by another table, whose manifests may name their
 * files. A folder stays such a one when its table is gone with its policies, because the files may be there still.
 */
const TRIGGERS: readonly string[] = [
  // When the last policy is taken off a table that there is, or can be had back, its folders are open; a table that is gone leaves them closed.
  `create function catalog.note_policed_folders() returns trigger language plpgsql as $$
  begin
    if tg_op = 'INSERT' then
      update catalog.folder_claim set is_policed = true where owner_id = new.table_id and not is_policed;
    elsif not exists (select from catalog.policy_binding b where b.table_id = old.table_id)
      and (exists (select from catalog.iceberg_table t where t.id = old.table_id)
        or exists (select from catalog.dropped_table d where d.id = old.table_id)) then
      update catalog.folder_claim set is_policed = false where owner_id = old.table_id;
    end if;
    return null;
  end $$`,
  `create trigger policed_folders after insert or delete on catalog.policy_binding
    for each row execute function catalog.note_policed_folders()`,
  // A table that moves takes its policies along.
  `create function catalog.police_new_folder() returns trigger language plpgsql as $$
  begin
    new.is_policed := exists (select from catalog.policy_binding b where b.table_id = new.owner_id);
    return new;
  end $$`,
  `create trigger policed_folder before insert on catalog.folder_claim
    for each row execute function catalog.police_new_folder()`,
];

export const POLICED_FOLDERS_MIGRATION: readonly string[] = [
  `alter table catalog.folder_claim add is_policed boolean not null default false`,
  `update catalog.folder_claim f set is_policed = true
    where exists (select from catalog.policy_binding b where b.table_id = f.owner_id)`,
  `create index on catalog.folder_claim (catalog_id, location) where is_policed`,
  ...TRIGGERS,
];
