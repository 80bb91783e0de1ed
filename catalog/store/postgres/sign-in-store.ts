import { sql } from 'kysely';
import type { PrincipalId } from '#shared/id.ts';
import type { Database, Tx } from './tables.ts';

/** Counters of wrong passwords, and the lock that follows from them. */

export type LockRule = {
  /** Wrong passwords in a row that lock. */
  readonly after: number;
  readonly forMs: number;
};

/** Whether passwords of the principal are refused for now. */
export async function isLocked(db: Database, id: PrincipalId, now: Date): Promise<boolean> {
  const row = await db
    .selectFrom('principal_sign_in')
    .select('principal_id')
    .where('principal_id', '=', id)
    .where('locked_until', '>', now)
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Holds the counter of a principal until the transaction ends: of many codes that are shown at once each meets what those before have counted.
 * @returns whether codes of it are refused for now
 */
export async function holdCounter(tx: Tx, id: PrincipalId, now: Date): Promise<boolean> {
  await sql`insert into catalog.principal_sign_in (principal_id) values (${id}) on conflict do nothing`.execute(tx);
  const row = await tx
    .selectFrom('principal_sign_in')
    .select('locked_until')
    .where('principal_id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  return row?.locked_until !== null && row?.locked_until !== undefined && row.locked_until > now;
}

/** Counts a wrong password, in one statement, so that none of several at once is lost. @returns whether it is locked by now */
export async function countFailure(tx: Tx, id: PrincipalId, now: Date, rule: LockRule): Promise<boolean> {
  const until = new Date(now.getTime() + rule.forMs);
  // A lock whose time is over lets the count begin anew.
  const failures = sql`case when s.locked_until <= ${now} then 1 else s.login_failures + 1 end`;
  const { rows } = await sql<{ readonly locked_until: Date | null }>`
    insert into catalog.principal_sign_in as s (principal_id, login_failures, locked_until)
    values (${id}, 1, case when ${rule.after}::integer <= 1 then ${until}::timestamptz end)
    on conflict (principal_id) do update set
      login_failures = ${failures},
      locked_until = case when ${failures} >= ${rule.after}::integer then ${until}::timestamptz end
    returning locked_until`.execute(tx);
  return (rows[0]?.locked_until ?? null) !== null;
}

/** Counts a refusal that counts for no user, which takes as long as `countFailure`. */
export async function countUnknown(tx: Tx): Promise<void> {
  await sql`
    insert into catalog.unknown_sign_in as s (failures) values (1)
    on conflict (one) do update set failures = s.failures + 1`.execute(tx);
}

/** Keeps the moment of a sign-in, by whatever was shown. A service account may be dropped meanwhile. */
export async function keepSignIn(tx: Tx, id: PrincipalId, now: Date): Promise<void> {
  await sql`
    insert into catalog.principal_sign_in (principal_id, last_login_at)
    select id, ${now}::timestamptz from catalog.principal where id = ${id} for key share
    on conflict (principal_id) do update set last_login_at = excluded.last_login_at`.execute(tx);
}

/** Removes the lock and the count: an administrator says so, or a person has signed in with all that is asked of him. */
export async function unlock(tx: Tx, id: PrincipalId): Promise<void> {
  await tx
    .updateTable('principal_sign_in')
    .set({ login_failures: 0, locked_until: null })
    .where('principal_id', '=', id)
    .where((eb) => eb.or([eb('login_failures', '>', 0), eb('locked_until', 'is not', null)]))
    .execute();
}

/** Forgets when a user has signed in, and failed to. */
export async function deleteSignIns(tx: Tx, id: PrincipalId): Promise<void> {
  await tx.deleteFrom('principal_sign_in').where('principal_id', '=', id).execute();
}
