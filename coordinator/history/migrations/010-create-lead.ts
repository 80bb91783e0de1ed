import { sql, type Kysely, type Migration } from 'kysely';

/**
 * The lead: one row, which the active coordinator renews beside its lease in etcd; and the terms that were handed over, whose statements go
 * on to their ends.
 */
export const createLead: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      create table coordinator.lead (
        id smallint primary key default 1 check (id = 1),
        epoch bigint not null,
        holder text not null,
        until timestamptz not null
      )`.execute(db);
    await sql`
      create table coordinator.ending_terms (
        epoch bigint primary key,
        until timestamptz not null
      )`.execute(db);
  },
};
