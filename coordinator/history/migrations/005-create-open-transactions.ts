import type { Kysely, Migration } from 'kysely';

export const createOpenTransactions: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .withSchema('coordinator')
      .createTable('open_transactions')
      .addColumn('session', 'text', (c) => c.primaryKey())
      .addColumn('epoch', 'bigint', (c) => c.notNull())
      .addColumn('begun_at', 'timestamptz', (c) => c.notNull())
      .execute();
  },
};
