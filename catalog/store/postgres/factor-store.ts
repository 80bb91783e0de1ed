import { sql, type RawBuilder } from 'kysely';
import type { PrincipalId } from '#shared/id.ts';
import type { Database, Tx } from './tables.ts';

/** Second factors of users: authenticators, and the codes for who has lost his. Passkeys are in `passkey-store.ts`. */

export type FactorKind = 'totp' | 'passkey';

/** The kinds of factors that the principal `p` has. */
export const factorsOf = (): RawBuilder<readonly FactorKind[]> => sql<readonly FactorKind[]>`array(
  select 'totp' from catalog.authenticator a where a.principal_id = p.id
  union all select 'passkey' where exists (select from catalog.passkey k where k.principal_id = p.id))`;

/** The owner of the sealed secret of an authenticator: that of no other user is opened in its place. */
export const authenticatorOwner = (principal: string): string => `authenticator ${principal}`;

type Authenticator = { readonly sealed: string; readonly usedStep: number };

export async function findAuthenticator(db: Database, principal: PrincipalId): Promise<Authenticator | undefined> {
  const row = await db
    .selectFrom('authenticator')
    .select(['secret_sealed', 'used_step'])
    .where('principal_id', '=', principal)
    .executeTakeFirst();
  return row === undefined ? undefined : { sealed: row.secret_sealed, usedStep: Number(row.used_step) };
}

/** Takes the code of a time step, and with it those of the steps before. @returns false when another has taken it */
export async function takeStep(tx: Tx, principal: PrincipalId, step: number, now: Date): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('authenticator')
    .set({ used_step: step, used_at: now })
    .where('principal_id', '=', principal)
    .where('used_step', '<', sql<string>`${step}::bigint`)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** The maker of an identity provider that signs a user in, as SQL over the row `principal`, where he was no tenant_admin: its issuer may be his own. */
export const MAKER_OF_PROVIDER = sql<string | null>`(select i.created_by from catalog.principal_identity n
  join catalog.identity_provider i on i.id = n.provider_id
  where n.principal_id = principal.id and not i.by_admin limit 1)`;

/** The one who may be signing in as a user: such a maker, or else the giver of his password. */
export const GIVER = sql`coalesce(${MAKER_OF_PROVIDER}, password_set_by)`;

/** Makes the authenticator of a user, in the place of the one before. Who may have made it in the user's name is kept with it. */
export async function putAuthenticator(
  tx: Tx,
  principal: PrincipalId,
  { sealed, usedStep, now }: { readonly sealed: string; readonly usedStep: number; readonly now: Date },
): Promise<void> {
  await sql`
    insert into catalog.authenticator (principal_id, secret_sealed, used_step, given_by, created_at)
    select id, ${sealed}, ${usedStep}::bigint, ${GIVER}, ${now}::timestamptz from catalog.principal where id = ${principal}
    on conflict (principal_id) do update set secret_sealed = excluded.secret_sealed, used_step = excluded.used_step,
      given_by = excluded.given_by, created_at = excluded.created_at, used_at = null`.execute(tx);
}

export async function deleteAuthenticator(tx: Tx, principal: PrincipalId): Promise<boolean> {
  const query = tx.deleteFrom('authenticator').where('principal_id', '=', principal);
  return (await query.executeTakeFirst()).numDeletedRows > 0n;
}

/** When the authenticator of a user was set up, and when it was used last; undefined: there is none. */
export async function datesOfAuthenticator(
  db: Database,
  principal: PrincipalId,
): Promise<{ readonly createdAt: Date; readonly usedAt: Date | null } | undefined> {
  return db
    .selectFrom('authenticator')
    .select(['created_at as createdAt', 'used_at as usedAt'])
    .where('principal_id', '=', principal)
    .executeTakeFirst();
}

/** An authenticator that has shown no code yet. */
type Enrolment = {
  readonly sealed: string;
  /** The sign-in by browser that has begun it; null: a statement of SQL. */
  readonly signIn: string | null;
  readonly endsAt: Date;
};

/** Begins an enrolment; the one before ends. */
export async function putEnrolment(
  tx: Tx,
  principal: PrincipalId,
  { sealed, signIn, endsAt }: Enrolment,
): Promise<void> {
  const row = { secret_sealed: sealed, sign_in: signIn, ends_at: endsAt };
  await tx
    .insertInto('authenticator_enrolment')
    .values({ principal_id: principal, ...row })
    .onConflict((conflict) => conflict.column('principal_id').doUpdateSet(row))
    .execute();
}

/** The sealed secret of an enrolment of this sign-in that has not ended. */
export async function findEnrolment(
  db: Database,
  principal: PrincipalId,
  signIn: string | null,
  now: Date,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('authenticator_enrolment')
    .select('secret_sealed')
    .where('principal_id', '=', principal)
    .where('sign_in', 'is not distinct from', signIn)
    .where('ends_at', '>', now)
    .executeTakeFirst();
  return row?.secret_sealed;
}

/** Takes an enrolment, which is finished once. @returns false when it has gone */
export async function takeEnrolment(tx: Tx, principal: PrincipalId, sealed: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('authenticator_enrolment')
    .where('principal_id', '=', principal)
    .where('secret_sealed', '=', sealed)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

export async function forgetEnrolments(tx: Tx, now: Date): Promise<void> {
  await tx.deleteFrom('authenticator_enrolment').where('ends_at', '<=', now).execute();
}

/** Puts new recovery codes, by their digests, in the place of those before. */
export async function putRecoveryCodes(tx: Tx, principal: PrincipalId, digests: readonly Buffer[]): Promise<void> {
  await tx.deleteFrom('recovery_code').where('principal_id', '=', principal).execute();
  if (digests.length === 0) return;
  const rows = digests.map((digest) => ({ principal_id: principal, sha256: digest }));
  await tx.insertInto('recovery_code').values(rows).execute();
}

/** Takes a recovery code. @returns false when there is none, or it was taken before */
export async function takeRecoveryCode(tx: Tx, principal: PrincipalId, digest: Buffer, now: Date): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('recovery_code')
    .set({ used_at: now })
    .where('principal_id', '=', principal)
    .where('sha256', '=', digest)
    .where('used_at', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export async function countRecoveryCodes(db: Database, principal: PrincipalId): Promise<number> {
  const { count } = await db
    .selectFrom('recovery_code')
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .where('principal_id', '=', principal)
    .where('used_at', 'is', null)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Deletes every factor of a user, and what belongs to them. @returns the kinds that he had */
export async function deleteFactors(tx: Tx, principal: PrincipalId): Promise<readonly FactorKind[]> {
  const passkeys = await tx.deleteFrom('passkey').where('principal_id', '=', principal).executeTakeFirst();
  const hadTotp = await deleteAuthenticator(tx, principal);
  await tx.deleteFrom('authenticator_enrolment').where('principal_id', '=', principal).execute();
  await putRecoveryCodes(tx, principal, []);
  return [...(hadTotp ? ['totp' as const] : []), ...(passkeys.numDeletedRows > 0n ? ['passkey' as const] : [])];
}

/** The sealed secrets of all users, for who seals them anew. */
export const sealedAuthenticators = (
  tx: Tx,
): Promise<readonly { readonly principal_id: string; readonly secret_sealed: string }[]> =>
  tx
    .selectFrom('authenticator')
    .select(['principal_id', 'secret_sealed'])
    .orderBy('principal_id')
    .forUpdate()
    .execute();

export async function replaceAuthenticatorSecret(tx: Tx, principal: string, sealed: string): Promise<void> {
  await tx.updateTable('authenticator').set({ secret_sealed: sealed }).where('principal_id', '=', principal).execute();
}

/** Ends the enrolments that are not finished: their secrets are sealed with a key that goes. */
export async function endEnrolments(tx: Tx): Promise<void> {
  await tx.deleteFrom('authenticator_enrolment').execute();
}
