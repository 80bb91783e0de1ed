import { principalId, type PrincipalId } from '#shared/id.ts';
import type { Database, Tx } from './tables.ts';

/** Sign-ins of people by programs, their refresh tokens, and the codes with which they begin. */

export type AppSignIn = {
  /** The `sid` of its tokens. */
  readonly id: string;
  readonly principal: PrincipalId;
  /** The sign-in by browser that has allowed it. */
  readonly browserSignIn: string;
  readonly clientId: string;
  /** Digest of the newest refresh token. */
  readonly refreshSha256: Buffer;
  readonly scopes: readonly string[];
  readonly sessionEpoch: number;
  readonly amr: readonly string[];
  readonly address: string;
  readonly agent: string;
  readonly authenticatedAt: Date;
  readonly startedAt: Date;
  readonly endsAt: Date;
};

export type SignInCode = {
  readonly sha256: Buffer;
  readonly principal: PrincipalId;
  readonly browserSignIn: string;
  readonly clientId: string;
  readonly redirectUri: string;
  /** SHA-256 of the verifier, as base64url. */
  readonly challenge: string;
  readonly scopes: readonly string[];
  readonly expiresAt: Date;
};

/** Sign-ins of one user that are kept; beyond it the oldest end. */
const OF_USER_MAX = 100;
/** Codes of one user that are not over. */
const CODES_OF_USER_MAX = 100;

export async function insertCode(tx: Tx, code: SignInCode): Promise<void> {
  await tx
    .insertInto('sign_in_code')
    .values({
      sha256: code.sha256,
      principal_id: code.principal,
      browser_sign_in: code.browserSignIn,
      client_id: code.clientId,
      redirect_uri: code.redirectUri,
      challenge: code.challenge,
      scopes: [...code.scopes],
      expires_at: code.expiresAt,
    })
    .execute();
  await tx
    .deleteFrom('sign_in_code')
    .where('sha256', 'in', (eb) =>
      eb
        .selectFrom('sign_in_code')
        .select('sha256')
        .where('principal_id', '=', code.principal)
        .where('app_sign_in', 'is', null)
        .orderBy('expires_at', 'desc')
        .offset(CODES_OF_USER_MAX),
    )
    .execute();
}

/** Takes a code for a sign-in that begins: of several at once only one gets it. */
export async function takeCode(
  tx: Tx,
  sha256: Buffer,
  { signIn, now }: { readonly signIn: string; readonly now: Date },
): Promise<SignInCode | undefined> {
  const row = await tx
    .updateTable('sign_in_code')
    .set({ app_sign_in: signIn })
    .where('sha256', '=', sha256)
    .where('app_sign_in', 'is', null)
    .where('expires_at', '>', now)
    .returningAll()
    .executeTakeFirst();
  if (row === undefined) return undefined;
  return {
    sha256: row.sha256,
    principal: principalId(row.principal_id),
    browserSignIn: row.browser_sign_in,
    clientId: row.client_id,
    redirectUri: row.redirect_uri,
    challenge: row.challenge,
    scopes: row.scopes,
    expiresAt: row.expires_at,
  };
}

/** The sign-in that a code was taken for. */
export async function signInOfCode(db: Database, sha256: Buffer): Promise<string | undefined> {
  const row = await db.selectFrom('sign_in_code').select('app_sign_in').where('sha256', '=', sha256).executeTakeFirst();
  return row?.app_sign_in ?? undefined;
}

export async function insertAppSignIn(tx: Tx, signIn: AppSignIn): Promise<void> {
  await tx
    .insertInto('app_sign_in')
    .values({
      id: signIn.id,
      principal_id: signIn.principal,
      browser_sign_in: signIn.browserSignIn,
      client_id: signIn.clientId,
      refresh_sha256: signIn.refreshSha256,
      scopes: [...signIn.scopes],
      session_epoch: signIn.sessionEpoch,
      amr: [...signIn.amr],
      address: signIn.address,
      agent: signIn.agent,
      authenticated_at: signIn.authenticatedAt,
      started_at: signIn.startedAt,
      ends_at: signIn.endsAt,
    })
    .execute();
  await tx
    .deleteFrom('app_sign_in')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('app_sign_in')
        .select('id')
        .where('principal_id', '=', signIn.principal)
        .orderBy('started_at', 'desc')
        .orderBy('id', 'desc')
        .offset(OF_USER_MAX),
    )
    .execute();
}

const COLUMNS = [
  'id',
  'principal_id as principal',
  'browser_sign_in as browserSignIn',
  'client_id as clientId',
  'refresh_sha256 as refreshSha256',
  'scopes',
  'session_epoch as sessionEpoch',
  'amr',
  'address',
  'agent',
  'authenticated_at as authenticatedAt',
  'started_at as startedAt',
  'ends_at as endsAt',
] as const;

export async function findAppSignIn(db: Database, id: string): Promise<AppSignIn | undefined> {
  const row = await db.selectFrom('app_sign_in').select(COLUMNS).where('id', '=', id).executeTakeFirst();
  return row === undefined ? undefined : { ...row, principal: principalId(row.principal) };
}

/** Replaces the newest refresh token by the next one: of two at once with one token only one succeeds. */
export async function replaceAppToken(
  tx: Tx,
  shown: { readonly id: string; readonly sha256: Buffer; readonly clientId: string; readonly now: Date },
  next: Buffer,
): Promise<AppSignIn | undefined> {
  const row = await tx
    .updateTable('app_sign_in')
    .set({ refresh_sha256: next })
    .where('id', '=', shown.id)
    .where('client_id', '=', shown.clientId)
    .where('refresh_sha256', '=', shown.sha256)
    .where('ends_at', '>', shown.now)
    .returning(COLUMNS)
    .executeTakeFirst();
  return row === undefined ? undefined : { ...row, principal: principalId(row.principal) };
}

/** Those of a user that have not ended, the newest first. */
export async function appSignInsOf(db: Database, principal: PrincipalId, now: Date): Promise<readonly AppSignIn[]> {
  const rows = await db
    .selectFrom('app_sign_in')
    .select(COLUMNS)
    .where('principal_id', '=', principal)
    .where('ends_at', '>', now)
    .where('session_epoch', '=', (eb) => eb.selectFrom('principal').select('session_epoch').where('id', '=', principal))
    .orderBy('started_at', 'desc')
    .execute();
  return rows.map((row) => ({ ...row, principal: principalId(row.principal) }));
}

/** One sign-in, those that one browser has allowed, or all of a user: their tokens end with them. @returns how many there were */
export async function deleteAppSignIns(
  tx: Tx,
  principal: PrincipalId,
  which?: { readonly id: string } | { readonly browserSignIn: string },
): Promise<number> {
  let query = tx.deleteFrom('app_sign_in').where('principal_id', '=', principal);
  if (which !== undefined) {
    query = 'id' in which ? query.where('id', '=', which.id) : query.where('browser_sign_in', '=', which.browserSignIn);
  }
  return Number((await query.executeTakeFirst()).numDeletedRows);
}

/** The codes of a browser's sign-in, or of all of a user's, that nobody has taken are worth nothing any more. */
export async function deleteCodes(tx: Tx, principal: PrincipalId, browserSignIn?: string): Promise<void> {
  let query = tx.deleteFrom('sign_in_code').where('principal_id', '=', principal).where('app_sign_in', 'is', null);
  if (browserSignIn !== undefined) query = query.where('browser_sign_in', '=', browserSignIn);
  await query.execute();
}

/** A sign-in that has ended before its time, until the moment at which its last token is over. */
export type EndedSignIn = { readonly id: string; readonly untilMs: number };

export async function endedSignIns(db: Database): Promise<readonly EndedSignIn[]> {
  const rows = await db.selectFrom('ended_sign_in').selectAll().execute();
  return rows.map(({ id, until }) => ({ id, untilMs: until.getTime() }));
}

/** Deletes what is over. A code that was taken is kept for as long as its sign-in, which ends when it comes again. */
export async function forgetAppSignIns(tx: Tx, now: Date): Promise<void> {
  await tx.deleteFrom('app_sign_in').where('ends_at', '<=', now).execute();
  await tx
    .deleteFrom('sign_in_code as c')
    .where('c.expires_at', '<=', now)
    .where((eb) =>
      eb.not(eb.exists(eb.selectFrom('app_sign_in as a').select('a.id').whereRef('a.id', '=', 'c.app_sign_in'))),
    )
    .execute();
  await tx.deleteFrom('ended_sign_in').where('until', '<', now).execute();
}
