import { sql, type Kysely, type Migration } from 'kysely';

/** Codes of links to the console that were used, until their time is over. */
export const createUsedCodes: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`create table coordinator.used_codes (id uuid primary key, until timestamptz not null)`.execute(db);
  },
};
