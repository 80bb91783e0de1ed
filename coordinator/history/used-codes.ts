import { sql, type Kysely } from 'kysely';
import type { HistoryDatabase } from './history-database.ts';

/**
 * Uses up a code that works once, for all coordinators and over restarts; false when it was used before. Codes whose time is over are
 * forgotten, because they are refused by their time.
 */
export async function useCode(db: Kysely<HistoryDatabase>, id: string, untilMs: number): Promise<boolean> {
  await sql`delete from coordinator.used_codes where until < now()`.execute(db);
  const { numInsertedOrUpdatedRows: inserted } = await db
    .insertInto('used_codes')
    .values({ id, until: new Date(untilMs) })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirst();
  return inserted === 1n;
}
