/**
 * The time until which a key, or a signature, opens a folder of a table for a client. A folder that has left its table (`former_uuid`, the
 * `table-uuid` that it had) is nobody's until then: whoever had the key would read and write the files of the next table there.
 */
export const FOLDER_KEYS_MIGRATION: readonly string[] = [
  `alter table catalog.folder_claim add keys_until timestamptz, add former_uuid text`,
  `create index on catalog.folder_claim (keys_until) where former_uuid is not null`,
];
