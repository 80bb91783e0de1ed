import { sql, type Kysely, type Migration } from 'kysely';

/** Sign-ins of people to the console, with their tokens, sealed. */
export const createConsoleSignIns: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`create table coordinator.console_sign_ins (
      id uuid primary key,
      sealed text not null,
      ends_at timestamptz not null
    )`.execute(db);
    await sql`create index console_sign_ins_ends_at on coordinator.console_sign_ins (ends_at)`.execute(db);
  },
};
