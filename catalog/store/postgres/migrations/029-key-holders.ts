/**
 * The one principal who has keys to the folders of a table, empty when there are several: who alone has the keys of a former table may make a
 * new one at its place, as a client does that drops a table and makes it again.
 */
export const KEY_HOLDERS_MIGRATION: readonly string[] = [`alter table catalog.folder_claim add keys_holder text`];
