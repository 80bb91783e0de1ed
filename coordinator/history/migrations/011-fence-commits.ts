import { sql, type Kysely, type Migration } from 'kysely';

/**
 * The address of the active coordinator, which another one tells its clients when etcd does not know it. And a unique epoch, which makes
 * it a key: to take the lead, another epoch, waits for the commits that hold a `key share` lock on the row, and to renew it does not.
 */
export const fenceCommits: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table coordinator.lead add column url text not null default '', add unique (epoch)`.execute(db);
  },
};
