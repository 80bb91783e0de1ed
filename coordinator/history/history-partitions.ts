import { sql, type Kysely } from 'kysely';
import type { Logger } from '#shared/log/logger.ts';
import type { HistoryDatabase } from './history-database.ts';

type Options = {
  readonly db: Kysely<HistoryDatabase>;
  readonly retentionMs: number;
  readonly nowMs: () => number;
  readonly log: Logger;
};

/** Months that have a partition before they begin. */
const MONTHS_AHEAD = 2;
const INTERVAL_MS = 3_600_000;
/** A statement that reads long holds a lock on the history; who waits for it stops the writer. */
const LOCK_TIMEOUT = '2s';

/**
 * Keeps a partition for each month, made before it begins, and drops those whose records are all older than the retention. What belongs to
 * no month's partition, because a clock was wrong, lies in `query_history_other`.
 */
export class HistoryPartitions implements Disposable {
  readonly #options: Options;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Makes and drops partitions now and every hour. What fails is logged, and tried again. */
  async start(): Promise<void> {
    this.#timer = setInterval(() => void this.#keep(), INTERVAL_MS);
    this.#timer.unref();
    await this.#keep();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  async #keep(): Promise<void> {
    const { db, nowMs, retentionMs, log } = this.#options;
    const now = new Date(nowMs());
    try {
      const months = Array.from({ length: MONTHS_AHEAD + 1 }, (_, i) => monthOf(now, i));
      for (const begin of months) await makeMonth(db, begin);
      await dropBefore(db, new Date(now.getTime() - retentionMs));
    } catch (error) {
      log.warn({ err: error }, 'the months of the history cannot be kept; it is tried again');
    }
  }
}

const monthOf = (time: Date, later = 0): Date => new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + later));

const nameOf = (begin: Date): string => `query_history_${begin.toISOString().slice(0, 7).replace('-', '_')}`;

const inTransaction = (db: Kysely<HistoryDatabase>, ...statements: readonly ReturnType<typeof sql>[]): Promise<void> =>
  db.transaction().execute(async (transaction) => {
    await sql`set local lock_timeout = ${sql.lit(LOCK_TIMEOUT)}`.execute(transaction);
    for (const statement of statements) await statement.execute(transaction);
  });

async function makeMonth(db: Kysely<HistoryDatabase>, begin: Date): Promise<void> {
  const table = sql.id('coordinator', nameOf(begin));
  const { rows } = await sql`select to_regclass(${`coordinator.${nameOf(begin)}`}) as made`.execute(db);
  if ((rows[0] as { readonly made: string | null }).made !== null) return;
  const [from, to] = [sql.lit(begin.toISOString()), sql.lit(monthOf(begin, 1).toISOString())];
  await inTransaction(
    db,
    sql`create table if not exists ${table} partition of coordinator.query_history for values from (${from}) to (${to})`,
  );
}

const MONTH = /^query_history_(\d{4})_(\d{2})$/;

async function dropBefore(db: Kysely<HistoryDatabase>, oldest: Date): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'coordinator.query_history'::regclass`.execute(db);
  for (const { name } of rows) {
    const month = MONTH.exec(name);
    if (month === null || new Date(Date.UTC(Number(month[1]), Number(month[2]))) > oldest) continue;
    await inTransaction(db, sql`drop table ${sql.id('coordinator', name)}`);
  }
  await sql`delete from coordinator.query_history_other where queued_at < ${oldest}`.execute(db);
}
