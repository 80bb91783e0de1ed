import type { Kysely, Migration } from 'kysely';

export const createUnloadIntents: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .withSchema('coordinator')
      .createTable('unload_intents')
      .addColumn('upload_id', 'uuid', (c) => c.primaryKey())
      .addColumn('record_id', 'uuid', (c) => c.notNull())
      .addColumn('stage', 'text', (c) => c.notNull())
      .addColumn('names', 'text')
      .addColumn('epoch', 'bigint', (c) => c.notNull())
      .addColumn('begun_at', 'timestamptz', (c) => c.notNull())
      .execute();
  },
};
