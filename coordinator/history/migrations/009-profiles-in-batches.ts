import { sql, type Kysely, type Migration } from 'kysely';

/**
 * The profiles of records that are stored together lie in one row, compressed, under the id of their batch, which the records name. Before,
 * each had a row under its record's id, as text.
 */
export const profilesInBatches: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table coordinator.query_history add column profile_batch uuid`.execute(db);
    await sql`
      alter table coordinator.query_profiles
      alter column profile drop not null,
      add column batch bytea`.execute(db);
    // Postgres would try to compress it again.
    await sql`alter table coordinator.query_profiles alter column batch set storage external`.execute(db);
  },
};
