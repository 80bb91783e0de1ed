/**
 * Clients put files of stages into a store themselves: `store_upload_id` is the id that the store has given an upload in parts. `keys_until`
 * is the time until which a key may write into a stage: files may come into a dropped one until then.
 */
export const CLIENT_UPLOADS_MIGRATION: readonly string[] = [
  `alter table catalog.stage_upload add column store_upload_id text`,
  `alter table catalog.stage add column keys_until timestamptz`,
];
