import type { Kysely, Migration } from 'kysely';

export const createWriteIntents: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .withSchema('coordinator')
      .createTable('write_intents')
      .addColumn('write_id', 'uuid', (c) => c.primaryKey())
      .addColumn('record_id', 'uuid', (c) => c.notNull())
      .addColumn('principal', 'text', (c) => c.notNull())
      .addColumn('commit_key', 'uuid', (c) => c.notNull())
      .addColumn('places', 'text', (c) => c.notNull())
      .addColumn('epoch', 'bigint', (c) => c.notNull())
      .addColumn('begun_at', 'timestamptz', (c) => c.notNull())
      .execute();
  },
};
