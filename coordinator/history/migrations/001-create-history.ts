import { sql, type Kysely, type Migration } from 'kysely';

export const createHistory: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`create sequence coordinator.epoch`.execute(db);
    await db.schema
      .withSchema('coordinator')
      .createTable('query_history')
      .addColumn('record_id', 'uuid', (c) => c.primaryKey())
      .addColumn('query_id', 'text', (c) => c.notNull())
      .addColumn('status', 'text', (c) => c.notNull())
      .addColumn('sql', 'text', (c) => c.notNull())
      .addColumn('user_id', 'text', (c) => c.notNull())
      .addColumn('username', 'text', (c) => c.notNull())
      .addColumn('tenant_id', 'text', (c) => c.notNull())
      .addColumn('query_type', 'text', (c) => c.notNull())
      .addColumn('source', 'text')
      .addColumn('resource_group', 'text', (c) => c.notNull())
      .addColumn('priority', 'integer', (c) => c.notNull())
      .addColumn('queued_at', 'timestamptz', (c) => c.notNull())
      .addColumn('started_at', 'timestamptz')
      .addColumn('ended_at', 'timestamptz')
      .addColumn('duration_ms', 'bigint')
      .addColumn('rows_produced', 'bigint', (c) => c.notNull())
      .addColumn('bytes_scanned', 'bigint', (c) => c.notNull())
      .addColumn('fragments', 'integer', (c) => c.notNull())
      .addColumn('error_code', 'text')
      .addColumn('error_message', 'text')
      .addColumn('cu_consumed', 'double precision', (c) => c.notNull())
      .addColumn('epoch', 'bigint', (c) => c.notNull())
      .execute();
    await sql`create index query_history_tenant on coordinator.query_history (tenant_id, queued_at desc)`.execute(db);
    await sql`create index query_history_id on coordinator.query_history (query_id)`.execute(db);
    await sql`create index query_history_open on coordinator.query_history (epoch)
      where status in ('queued', 'running')`.execute(db);
  },
};
