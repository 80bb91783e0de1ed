import { sql, type Kysely, type Migration } from 'kysely';

/**
 * Profiles of queries, in segments that are dropped one by one when all of them together take too much room, the oldest first. The
 * column `profile` of the history stays empty.
 */
export const createQueryProfiles: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      create table coordinator.profile_segments (segment integer primary key, begun_at timestamptz not null)`.execute(
      db,
    );
    await sql`
      create table coordinator.query_profiles (
        record_id uuid not null, segment integer not null, profile text not null, primary key (record_id, segment))
      partition by list (segment)`.execute(db);
    await sql`
      create table coordinator.query_profiles_1 partition of coordinator.query_profiles for values in (1)`.execute(db);
    await sql`insert into coordinator.profile_segments values (1, now())`.execute(db);
  },
};
