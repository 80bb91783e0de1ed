import type { Kysely, Migration } from 'kysely';

export const createQuarantine: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .withSchema('coordinator')
      .createTable('quarantine')
      .addColumn('id', 'uuid', (c) => c.primaryKey())
      .addColumn('tenant_id', 'text', (c) => c.notNull())
      .addColumn('user_id', 'text', (c) => c.notNull())
      .addColumn('username', 'text', (c) => c.notNull())
      .addColumn('fingerprint', 'text', (c) => c.notNull())
      .addColumn('sql', 'text', (c) => c.notNull())
      .addColumn('reason', 'text', (c) => c.notNull())
      .addColumn('killed_at', 'timestamptz', (c) => c.notNull())
      .addColumn('until', 'timestamptz', (c) => c.notNull())
      .execute();
  },
};
