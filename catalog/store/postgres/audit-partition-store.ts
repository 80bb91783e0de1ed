import { sql } from 'kysely';
import type { Database } from './tables.ts';

/** The partitions of the audit log: one for each month, and the catch-all `user_audit_log_other`. */

/** A long read holds a lock on the log; who waits for it would stop every change of a principal. */
const LOCK_TIMEOUT = '2s';
const MONTH = /^user_audit_log_(\d{4})_(\d{2})$/;

/** The begin of the month of a time, or of a later one. */
export const monthOf = (time: Date, later = 0): Date =>
  new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + later));

const nameOf = (begin: Date): string => `user_audit_log_${begin.toISOString().slice(0, 7).replace('-', '_')}`;

/** Makes the partition of a month that has none. */
export async function makeMonth(db: Database, begin: Date): Promise<void> {
  const { rows } = await sql<{ readonly made: string | null }>`
    select to_regclass(${`catalog.${nameOf(begin)}`}) as made`.execute(db);
  if (rows[0]?.made !== null) return;
  const [from, to] = [sql.lit(begin.toISOString()), sql.lit(monthOf(begin, 1).toISOString())];
  // Rows of the month that came before its partition lie in the catch-all, and Postgres refuses a partition whose rows lie there.
  await changeTables(db, [
    sql`alter table catalog.user_audit_log detach partition catalog.user_audit_log_other`,
    sql`create table if not exists ${sql.id('catalog', nameOf(begin))} partition of catalog.user_audit_log
      for values from (${from}) to (${to})`,
    sql`with moved as (
      delete from catalog.user_audit_log_other where created_at >= ${from} and created_at < ${to} returning *)
      insert into catalog.user_audit_log select * from moved`,
    sql`alter table catalog.user_audit_log attach partition catalog.user_audit_log_other default`,
  ]);
}

/** Drops the partitions whose rows are all older; never the catch-all. */
export async function dropMonthsBefore(db: Database, oldest: Date): Promise<void> {
  const { rows } = await sql<{ readonly name: string }>`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'catalog.user_audit_log'::regclass`.execute(db);
  for (const { name } of rows) {
    const month = MONTH.exec(name);
    if (month === null || new Date(Date.UTC(Number(month[1]), Number(month[2]))) > oldest) continue;
    await changeTables(db, [sql`drop table if exists ${sql.id('catalog', name)}`]);
  }
}

const changeTables = (db: Database, statements: readonly ReturnType<typeof sql>[]): Promise<void> =>
  db.transaction().execute(async (transaction) => {
    await sql`set local lock_timeout = ${sql.lit(LOCK_TIMEOUT)}`.execute(transaction);
    for (const statement of statements) await statement.execute(transaction);
  });
