import { principalId, type PrincipalId } from '#shared/id.ts';
import type { Database, Tx } from './tables.ts';

/** Users by the provider that signs them in, and its subject. */

/** The user whom a provider knows by this subject. */
export async function findIdentity(
  db: Database,
  providerId: string,
  subject: string,
): Promise<PrincipalId | undefined> {
  const row = await db
    .selectFrom('principal_identity')
    .select('principal_id')
    .where('provider_id', '=', providerId)
    .where('subject', '=', subject)
    .executeTakeFirst();
  return row === undefined ? undefined : principalId(row.principal_id);
}

/** The user who is linked with this id that the provider has for him in SCIM. */
export async function findIdentityByExternalId(
  db: Database,
  providerId: string,
  externalId: string,
): Promise<PrincipalId | undefined> {
  const row = await db
    .selectFrom('principal_identity')
    .select('principal_id')
    .where('provider_id', '=', providerId)
    .where('external_id', '=', externalId)
    .orderBy('linked_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? undefined : principalId(row.principal_id);
}

/** @throws a unique violation when the subject, or the user at this provider, is linked already */
export async function insertIdentity(
  tx: Tx,
  identity: {
    readonly providerId: string;
    readonly subject: string;
    readonly externalId: string;
    readonly principal: PrincipalId;
    /** The giver of the password by which the user links himself. */
    readonly givenBy: string | null;
    readonly now: Date;
  },
): Promise<void> {
  const { providerId, subject, externalId, principal, givenBy, now } = identity;
  await tx
    .insertInto('principal_identity')
    .values({
      provider_id: providerId,
      subject,
      external_id: externalId,
      principal_id: principal,
      given_by: givenBy,
      linked_at: now,
    })
    .execute();
}

/** @param providerId undefined = at all providers */
export async function deleteIdentities(tx: Tx, principal: PrincipalId, providerId?: string): Promise<boolean> {
  let query = tx.deleteFrom('principal_identity').where('principal_id', '=', principal);
  if (providerId !== undefined) query = query.where('provider_id', '=', providerId);
  return (await query.executeTakeFirst()).numDeletedRows > 0n;
}

export type NamedIdentity = {
  readonly providerId: string;
  readonly provider: string;
  readonly label: string | null;
  readonly subject: string;
};

/** The identities of a user, with the names of their providers. */
export const identitiesOf = (db: Database, principal: PrincipalId): Promise<readonly NamedIdentity[]> =>
  db
    .selectFrom('principal_identity as n')
    .innerJoin('identity_provider as i', 'i.id', 'n.provider_id')
    .select(['i.id as providerId', 'i.name as provider', 'i.label', 'n.subject'])
    .where('n.principal_id', '=', principal)
    .orderBy('i.name')
    .execute();

/** A sign-in at a provider that has begun in a browser. */
export type OutsideSignInBegun = {
  readonly stateSha256: Buffer;
  readonly browserSha256: Buffer;
  readonly providerId: string;
  readonly nonce: string;
  readonly verifier: string;
  /** The provider was told to ask the person again. */
  readonly isAgain: boolean;
  /** The user whom it links; null: it signs somebody in. */
  readonly links: PrincipalId | null;
  readonly endsAt: Date;
};

export async function insertOutsideSignIn(tx: Tx, begun: OutsideSignInBegun): Promise<void> {
  await tx
    .insertInto('outside_sign_in')
    .values({
      state_sha256: begun.stateSha256,
      browser_sha256: begun.browserSha256,
      provider_id: begun.providerId,
      nonce: begun.nonce,
      verifier: begun.verifier,
      is_again: begun.isAgain,
      links: begun.links,
      ends_at: begun.endsAt,
    })
    .execute();
}

/** Takes the one return of a sign-in to the browser that has begun it. */
export async function takeOutsideSignIn(
  tx: Tx,
  shown: { readonly stateSha256: Buffer; readonly browserSha256: Buffer; readonly now: Date },
): Promise<OutsideSignInBegun | undefined> {
  const row = await tx
    .deleteFrom('outside_sign_in')
    .where('state_sha256', '=', shown.stateSha256)
    .where('browser_sha256', '=', shown.browserSha256)
    .where('ends_at', '>', shown.now)
    .returningAll()
    .executeTakeFirst();
  if (row === undefined) return undefined;
  return {
    stateSha256: row.state_sha256,
    browserSha256: row.browser_sha256,
    providerId: row.provider_id,
    nonce: row.nonce,
    verifier: row.verifier,
    isAgain: row.is_again,
    links: row.links === null ? null : principalId(row.links),
    endsAt: row.ends_at,
  };
}

export async function forgetOutsideSignIns(tx: Tx, now: Date): Promise<void> {
  await tx.deleteFrom('outside_sign_in').where('ends_at', '<=', now).execute();
}
