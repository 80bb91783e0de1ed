import { sql } from 'kysely';
import { principalId, type PrincipalId } from '#shared/id.ts';
import type { Database, Tx } from './tables.ts';

/** Sign-ins of people by browser. */

export type BrowserSignIn = {
  readonly id: string;
  readonly secretSha256: Buffer;
  readonly principal: PrincipalId;
  readonly step: 'factor' | 'new password' | 'set up factor' | 'done';
  readonly sessionEpoch: number;
  /** How the person has proven himself since it began, by the names of RFC 8176. */
  readonly amr: readonly string[];
  /** The address and the program that began it, as they were seen. */
  readonly address: string;
  readonly agent: string;
  readonly authenticatedAt: Date;
  readonly endsAt: Date;
};

/** Sign-ins of one user that are kept; beyond it the oldest end. */
const OF_USER_MAX = 100;

export async function insertBrowserSignIn(tx: Tx, signIn: BrowserSignIn): Promise<void> {
  await tx
    .insertInto('browser_sign_in')
    .values({
      id: signIn.id,
      secret_sha256: signIn.secretSha256,
      principal_id: signIn.principal,
      step: signIn.step,
      session_epoch: signIn.sessionEpoch,
      amr: [...signIn.amr],
      address: signIn.address,
      agent: signIn.agent,
      authenticated_at: signIn.authenticatedAt,
      ends_at: signIn.endsAt,
    })
    .execute();
  await tx
    .deleteFrom('browser_sign_in')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('browser_sign_in')
        .select('id')
        .where('principal_id', '=', signIn.principal)
        .orderBy('authenticated_at', 'desc')
        .orderBy('id', 'desc')
        .offset(OF_USER_MAX),
    )
    .execute();
}

const signIns = (db: Database) =>
  db
    .selectFrom('browser_sign_in')
    .select([
      'id',
      'secret_sha256 as secretSha256',
      'principal_id as principal',
      'step',
      'session_epoch as sessionEpoch',
      'amr',
      'address',
      'agent',
      'authenticated_at as authenticatedAt',
      'ends_at as endsAt',
    ]);

export async function findBrowserSignIn(db: Database, secretSha256: Buffer): Promise<BrowserSignIn | undefined> {
  const row = await signIns(db).where('secret_sha256', '=', secretSha256).executeTakeFirst();
  return row === undefined ? undefined : { ...row, principal: principalId(row.principal) };
}

export async function findBrowserSignInById(db: Database, id: string): Promise<BrowserSignIn | undefined> {
  const row = await signIns(db).where('id', '=', id).executeTakeFirst();
  return row === undefined ? undefined : { ...row, principal: principalId(row.principal) };
}

/** Those of a user that have not ended, the newest first. */
export async function browserSignInsOf(
  db: Database,
  principal: PrincipalId,
  now: Date,
): Promise<readonly BrowserSignIn[]> {
  const rows = await signIns(db)
    .where('principal_id', '=', principal)
    .where('step', '=', 'done')
    .where('ends_at', '>', now)
    .where('session_epoch', '=', (eb) => eb.selectFrom('principal').select('session_epoch').where('id', '=', principal))
    .orderBy('authenticated_at', 'desc')
    .execute();
  return rows.map((row) => ({ ...row, principal: principalId(row.principal) }));
}

/** Moves a sign-in to its next step, with a new secret: of two at once with one secret only one succeeds. */
export async function moveBrowserSignIn(
  tx: Tx,
  secretSha256: Buffer,
  next: Pick<BrowserSignIn, 'step' | 'secretSha256' | 'sessionEpoch' | 'amr' | 'authenticatedAt' | 'endsAt'>,
  now: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('browser_sign_in')
    .set({
      step: next.step,
      secret_sha256: next.secretSha256,
      session_epoch: next.sessionEpoch,
      amr: [...next.amr],
      authenticated_at: next.authenticatedAt,
      ends_at: next.endsAt,
      challenge: null,
    })
    .where('secret_sha256', '=', secretSha256)
    .where('ends_at', '>', now)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Deletes a sign-in in whose place the browser has another one of the same user, which takes over what was allowed there. */
export async function replaceBrowserSignIn(
  tx: Tx,
  { id, principal }: Pick<BrowserSignIn, 'id' | 'principal'>,
  next: string,
): Promise<void> {
  await tx
    .updateTable('app_sign_in')
    .set({ browser_sign_in: next })
    .where('browser_sign_in', '=', id)
    .where('principal_id', '=', (eb) => eb.selectFrom('browser_sign_in').select('principal_id').where('id', '=', next))
    .execute();
  await deleteBrowserSignIns(tx, principal, id);
}

/** Keeps the challenge that the page of a step has; the one before is no longer good. */
export async function putChallenge(tx: Tx, id: string, challenge: string): Promise<void> {
  await tx.updateTable('browser_sign_in').set({ challenge }).where('id', '=', id).execute();
}

/** Takes the challenge of a step, which is good for one answer. */
export async function takeChallenge(tx: Tx, id: string): Promise<string | undefined> {
  const row = await tx
    .selectFrom('browser_sign_in')
    .select('challenge')
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  await tx.updateTable('browser_sign_in').set({ challenge: null }).where('id', '=', id).execute();
  return row?.challenge ?? undefined;
}

/** @param which undefined = all of the user @returns how many there were */
export async function deleteBrowserSignIns(tx: Tx, principal: PrincipalId, which?: string): Promise<number> {
  let query = tx.deleteFrom('browser_sign_in').where('principal_id', '=', principal);
  if (which !== undefined) query = query.where('id', '=', which);
  return Number((await query.executeTakeFirst()).numDeletedRows);
}

/** Deletes those that have ended: by time, or because the session epoch of their user has risen. */
export async function forgetBrowserSignIns(tx: Tx, now: Date): Promise<void> {
  await sql`
    delete from catalog.browser_sign_in s using catalog.principal p
    where p.id = s.principal_id and (s.ends_at <= ${now} or s.session_epoch < p.session_epoch)`.execute(tx);
}
