import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import type { KeyAlgorithm } from '#shared/principal/key-algorithm.ts';
import { principalId, type PrincipalId } from '#shared/id.ts';
import type { Database, Tx } from './tables.ts';

/** Personal access tokens, keys of service accounts, invitations and former passwords. */

export type AccessTokenRow = {
  readonly id: string;
  readonly principal: PrincipalId;
  readonly name: string;
  readonly scopes: readonly string[];
  /** The name of its maker; null: he is gone. */
  readonly maker: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
};

/** The makers of a credential: the caller, and another who has given him what he has signed in with. */
export type Makers = { readonly createdBy: PrincipalId; readonly givenBy: PrincipalId | null };

export async function insertAccessToken(
  tx: Tx,
  token: Omit<AccessTokenRow, 'id' | 'maker'> &
    Makers & { readonly sha256: Buffer; readonly providerId: string | null },
): Promise<void> {
  await tx
    .insertInto('access_token')
    .values({
      principal_id: token.principal,
      name: token.name,
      sha256: token.sha256,
      scopes: [...token.scopes],
      created_by: token.createdBy,
      given_by: token.givenBy,
      provider_id: token.providerId,
      created_at: token.createdAt,
      expires_at: token.expiresAt,
    })
    .execute();
}

const tokens = (db: Database) =>
  db
    .selectFrom('access_token as a')
    .leftJoin('principal as m', 'm.id', 'a.created_by')
    .select([
      'a.id',
      'a.principal_id as principal',
      'a.name',
      'a.scopes',
      'm.username as maker',
      'a.created_at as createdAt',
      'a.expires_at as expiresAt',
    ]);
type TokenRow = Awaited<ReturnType<ReturnType<typeof tokens>['executeTakeFirstOrThrow']>>;
const tokenOf = (row: TokenRow): AccessTokenRow => ({ ...row, principal: principalId(row.principal) });

export const listAccessTokens = async (db: Database, principal: PrincipalId): Promise<readonly AccessTokenRow[]> =>
  (await tokens(db).where('a.principal_id', '=', principal).orderBy('a.name').execute()).map(tokenOf);

export async function findAccessToken(
  db: Database,
  principal: PrincipalId,
  name: string,
): Promise<AccessTokenRow | undefined> {
  const row = await tokens(db)
    .where('a.principal_id', '=', principal)
    .where('a.name_folded', '=', foldIdentifier(name))
    .executeTakeFirst();
  return row === undefined ? undefined : tokenOf(row);
}

/** @param name undefined = all @returns how many there were */
export async function deleteAccessTokens(tx: Tx, principal: PrincipalId, id?: string): Promise<number> {
  let query = tx.deleteFrom('access_token').where('principal_id', '=', principal);
  if (id !== undefined) query = query.where('id', '=', id);
  return Number((await query.executeTakeFirst()).numDeletedRows);
}

export type KeypairRow = {
  readonly keyId: string;
  readonly publicKey: string;
  readonly algorithm: KeyAlgorithm;
  /** The name of its maker; null: the operator of an older release, or he is gone. */
  readonly maker: string | null;
};
type NewKeypair = Omit<KeypairRow, 'maker'> & {
  readonly createdBy: PrincipalId;
  /** Tokens that are made by the key have no others. */
  readonly scopes: readonly string[];
};

export async function insertKeypair(tx: Tx, principal: PrincipalId, key: NewKeypair, now: Date): Promise<void> {
  await tx
    .insertInto('keypair')
    .values({
      principal_id: principal,
      key_id: key.keyId,
      public_key: key.publicKey,
      algorithm: key.algorithm,
      created_by: key.createdBy,
      scopes: [...key.scopes],
      created_at: now,
      revoked_at: null,
    })
    .execute();
}

/** The keys of service accounts that are not revoked, by account. */
export async function activeKeypairs(
  db: Database,
  principals: readonly PrincipalId[],
): Promise<ReadonlyMap<PrincipalId, readonly KeypairRow[]>> {
  if (principals.length === 0) return new Map();
  const rows = await db
    .selectFrom('keypair as k')
    .leftJoin('principal as m', 'm.id', 'k.created_by')
    .select(['k.principal_id', 'k.key_id as keyId', 'k.public_key as publicKey', 'k.algorithm', 'm.username as maker'])
    .where('k.principal_id', 'in', principals)
    .where('k.revoked_at', 'is', null)
    .orderBy('k.key_id')
    .execute();
  return Map.groupBy(rows, (row) => principalId(row.principal_id));
}

/** @returns whether there was an active one of this id */
export async function revokeKeypair(tx: Tx, principal: PrincipalId, keyId: string, now: Date): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('keypair')
    .set({ revoked_at: now })
    .where('principal_id', '=', principal)
    .where('key_id', '=', keyId)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export async function insertInvitation(
  tx: Tx,
  principal: PrincipalId,
  invitation: {
    readonly sha256: Buffer;
    readonly createdBy: PrincipalId;
    readonly now: Date;
    readonly expiresAt: Date;
  },
): Promise<void> {
  await tx
    .insertInto('invitation')
    .values({
      principal_id: principal,
      sha256: invitation.sha256,
      created_by: invitation.createdBy,
      created_at: invitation.now,
      expires_at: invitation.expiresAt,
      redeemed_at: null,
    })
    .execute();
}

/** The user that an invitation of the tenant is for; undefined when it is unknown, used or over. */
export async function findInvited(
  db: Database,
  tenantId: string,
  sha256: Buffer,
  now: Date,
): Promise<PrincipalId | undefined> {
  const row = await db
    .selectFrom('invitation as i')
    .innerJoin('principal as p', 'p.id', 'i.principal_id')
    .select('p.id')
    .where('p.tenant_id', '=', tenantId)
    .where('i.sha256', '=', sha256)
    .where('i.redeemed_at', 'is', null)
    .where('i.expires_at', '>', now)
    .executeTakeFirst();
  return row === undefined ? undefined : principalId(row.id);
}

/** The user of an invitation of whichever tenant; undefined when it is unknown, used or over. */
export async function findInvitedAnywhere(
  db: Database,
  sha256: Buffer,
  now: Date,
): Promise<{ readonly id: PrincipalId; readonly tenant: string } | undefined> {
  const row = await db
    .selectFrom('invitation as i')
    .innerJoin('principal as p', 'p.id', 'i.principal_id')
    .innerJoin('tenant as t', 't.id', 'p.tenant_id')
    .select(['p.id', 't.name as tenant'])
    .where('i.sha256', '=', sha256)
    .where('i.redeemed_at', 'is', null)
    .where('i.expires_at', '>', now)
    .executeTakeFirst();
  return row === undefined ? undefined : { id: principalId(row.id), tenant: row.tenant };
}

/** Marks an invitation as used, in one statement. @returns who has made it; undefined when it is used already, or gone */
export async function takeInvitation(
  tx: Tx,
  sha256: Buffer,
  now: Date,
): Promise<{ readonly createdBy: PrincipalId | null } | undefined> {
  const taken = await tx
    .updateTable('invitation')
    .set({ redeemed_at: now })
    .where('sha256', '=', sha256)
    .where('redeemed_at', 'is', null)
    .where('expires_at', '>', now)
    .returning('created_by')
    .executeTakeFirst();
  if (taken === undefined) return undefined;
  return { createdBy: taken.created_by === null ? null : principalId(taken.created_by) };
}

export async function deleteInvitations(tx: Tx, principal: PrincipalId): Promise<void> {
  await tx.deleteFrom('invitation').where('principal_id', '=', principal).execute();
}

/** The last `count` passwords before the current one, the newest first. */
export async function formerPasswords(db: Database, principal: PrincipalId, count: number): Promise<readonly string[]> {
  if (count <= 0) return [];
  const rows = await db
    .selectFrom('password_history')
    .select('password_hash')
    .where('principal_id', '=', principal)
    .orderBy('set_at', 'desc')
    .limit(count)
    .execute();
  return rows.map((row) => row.password_hash);
}

/** Keeps a password that is replaced, and forgets those before the newest `count`. */
export async function keepFormerPassword(
  tx: Tx,
  principal: PrincipalId,
  former: { readonly hash: string; readonly now: Date; readonly count: number },
): Promise<void> {
  const { hash, now, count } = former;
  await tx
    .insertInto('password_history')
    .values({ principal_id: principal, password_hash: hash, set_at: now })
    .execute();
  await tx
    .deleteFrom('password_history')
    .where('principal_id', '=', principal)
    .where('password_hash', 'not in', (eb) =>
      eb
        .selectFrom('password_history')
        .select('password_hash')
        .where('principal_id', '=', principal)
        .orderBy('set_at', 'desc')
        .limit(Math.max(0, count)),
    )
    .execute();
}

export async function deleteFormerPasswords(tx: Tx, principal: PrincipalId): Promise<void> {
  await tx.deleteFrom('password_history').where('principal_id', '=', principal).execute();
}
