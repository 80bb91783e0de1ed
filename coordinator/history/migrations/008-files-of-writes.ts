import type { Kysely, Migration } from 'kysely';

export const filesOfWrites: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema.withSchema('coordinator').alterTable('write_intents').addColumn('files', 'text').execute();
  },
};
