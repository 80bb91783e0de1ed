import type { Kysely } from 'kysely';
import type { HistoryDatabase } from './history-database.ts';

/** The sealed tokens of a person's sign-in to the console; null takes the sign-in away. */
type Next = { readonly sealed: string | null };

/** Keeps a sign-in, and forgets those that are over. */
export async function insertConsoleSignIn(
  db: Kysely<HistoryDatabase>,
  row: { readonly id: string; readonly sealed: string; readonly endsAt: Date },
  now: Date,
): Promise<void> {
  await db.deleteFrom('console_sign_ins').where('ends_at', '<', now).execute();
  const { id, sealed, endsAt } = row;
  await db.insertInto('console_sign_ins').values({ id, sealed, ends_at: endsAt }).execute();
}

/**
 * Reads a sign-in, and keeps what `next` makes of it, while no other coordinator can do the same: a refresh token that were shown twice would
 * end the sign-in. @returns undefined: there is none
 */
export function changeConsoleSignIn<T>(
  db: Kysely<HistoryDatabase>,
  id: string,
  next: (sealed: string) => Promise<Next & { readonly answer: T }>,
): Promise<T | undefined> {
  return db.transaction().execute(async (tx) => {
    const row = await tx
      .selectFrom('console_sign_ins')
      .select('sealed')
      .where('id', '=', id)
      .forUpdate()
      .executeTakeFirst();
    if (row === undefined) return undefined;
    const { sealed, answer } = await next(row.sealed);
    if (sealed === null) await tx.deleteFrom('console_sign_ins').where('id', '=', id).execute();
    else if (sealed !== row.sealed) {
      await tx.updateTable('console_sign_ins').set({ sealed }).where('id', '=', id).execute();
    }
    return answer;
  });
}
