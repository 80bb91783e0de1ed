import { sql, type Kysely, type Migration } from 'kysely';

/** History in a partition for each month, so that old months are dropped and not deleted row by row. */
export const historyByMonth: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table coordinator.query_history rename to query_history_whole`.execute(db);
    await sql`
      create table coordinator.query_history (like coordinator.query_history_whole including defaults, profile text)
      partition by range (queued_at)`.execute(db);
    await sql`create table coordinator.query_history_other partition of coordinator.query_history default`.execute(db);
    await sql`
      do $$
      declare month timestamptz;
      begin
        for month in select distinct date_trunc('month', queued_at, 'UTC') from coordinator.query_history_whole loop
          execute format(
            'create table coordinator.%I partition of coordinator.query_history for values from (%L) to (%L)',
            'query_history_' || to_char(month at time zone 'UTC', 'YYYY_MM'), month,
            (month at time zone 'UTC' + interval '1 month') at time zone 'UTC');
        end loop;
      end $$`.execute(db);
    await sql`insert into coordinator.query_history select *, null from coordinator.query_history_whole`.execute(db);
    await sql`drop table coordinator.query_history_whole`.execute(db);
    await sql`alter table coordinator.query_history add primary key (record_id, queued_at)`.execute(db);
    await sql`create index query_history_tenant
      on coordinator.query_history (tenant_id, queued_at desc, record_id desc)`.execute(db);
    await sql`create index query_history_user
      on coordinator.query_history (tenant_id, user_id, queued_at desc, record_id desc)`.execute(db);
    await sql`create index query_history_id on coordinator.query_history (query_id)`.execute(db);
    await sql`create index query_history_open on coordinator.query_history (epoch)
      where status in ('queued', 'running')`.execute(db);
  },
};
