import type { Tx } from './tables.ts';

/** Families of refresh tokens: one row each, which stores only the newest token of the family. */

export type RefreshFamily = {
  readonly id: string;
  readonly clientId: string;
  readonly secretSha256: Buffer;
  readonly scopes: readonly string[];
  readonly sessionEpoch: number;
  readonly authenticatedAtMs: number;
  readonly expiresAtMs: number;
};

/** Maximum number of token families of one client; beyond it those that end first are deleted. */
const FAMILIES_MAX = 1_000;

export async function insertFamily(tx: Tx, family: RefreshFamily): Promise<void> {
  await tx
    .insertInto('refresh_family')
    .values({
      id: family.id,
      client_id: family.clientId,
      secret_sha256: family.secretSha256,
      scopes: [...family.scopes],
      session_epoch: family.sessionEpoch,
      authenticated_at: new Date(family.authenticatedAtMs),
      expires_at: new Date(family.expiresAtMs),
    })
    .execute();
  await tx
    .deleteFrom('refresh_family')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('refresh_family')
        .select('id')
        .where('client_id', '=', family.clientId)
        .orderBy('expires_at', 'desc')
        .offset(FAMILIES_MAX),
    )
    .execute();
}

/**
 * Replaces the presented token by the next one, if it is the newest of a living family of this client; of two concurrent calls with one
 * token only one succeeds.
 */
export async function replaceToken(
  tx: Tx,
  shown: { readonly family: string; readonly clientId: string; readonly sha256: Buffer; readonly now: Date },
  next: Buffer,
): Promise<RefreshFamily | undefined> {
  const row = await tx
    .updateTable('refresh_family')
    .set({ secret_sha256: next })
    .where('id', '=', shown.family)
    .where('client_id', '=', shown.clientId)
    .where('secret_sha256', '=', shown.sha256)
    .where('expires_at', '>', shown.now)
    .returningAll()
    .executeTakeFirst();
  return row === undefined
    ? undefined
    : {
        id: row.id,
        clientId: row.client_id,
        secretSha256: row.secret_sha256,
        scopes: row.scopes,
        sessionEpoch: row.session_epoch,
        authenticatedAtMs: row.authenticated_at.getTime(),
        expiresAtMs: row.expires_at.getTime(),
      };
}

/** Deletes a family of this client; returns whether there was one. */
export async function deleteFamily(tx: Tx, id: string, clientId: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('refresh_family')
    .where('id', '=', id)
    .where('client_id', '=', clientId)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Deletes the families that have expired. */
export async function deleteExpiredFamilies(tx: Tx, now: Date): Promise<void> {
  await tx.deleteFrom('refresh_family').where('expires_at', '<=', now).execute();
}
