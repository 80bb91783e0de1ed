import type { PrincipalId } from '#shared/id.ts';
import type { Database, Tx } from './tables.ts';

/** Idempotency keys: the request that each was used for, and its answer. */

/** A key and the principal that uses it. */
export type KeyUse = {
  readonly principal: PrincipalId;
  readonly catalog: string;
  readonly key: string;
  readonly operation: string;
};
/** The stored answer to a request; status null: the request succeeded, but its answer was not kept. */
export type KeptAnswer = {
  readonly status: number | null;
  readonly etag: string | null;
  readonly body: string | null;
};
export type UsedKey = KeptAnswer & { readonly requestHash: Buffer };

/** Finds the use of a key; undefined when the key was not used, or its use has expired. */
export async function findUse(db: Database, use: KeyUse, now: Date): Promise<UsedKey | undefined> {
  return db
    .selectFrom('idempotency_key')
    .select(['request_hash as requestHash', 'status', 'etag', 'body'])
    .where('principal', '=', use.principal)
    .where('catalog', '=', use.catalog)
    .where('key', '=', use.key)
    .where('operation', '=', use.operation)
    .where('expires_at', '>', now)
    .executeTakeFirst();
}

/** Inserts the use of a key; false when it is in use already. Waits for a transaction in progress that uses the same key. */
export async function insertUse(
  tx: Tx,
  use: KeyUse,
  row: KeptAnswer & { readonly requestHash: Buffer; readonly now: Date; readonly expiresAt: Date },
): Promise<boolean> {
  const { status, etag, body, requestHash, now, expiresAt } = row;
  const values = { request_hash: requestHash, status, etag, body, expires_at: expiresAt };
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('idempotency_key')
    .values({ ...use, ...values })
    .onConflict((conflict) =>
      conflict
        .columns(['principal', 'catalog', 'key', 'operation'])
        .doUpdateSet(values)
        .where('idempotency_key.expires_at', '<=', now),
    )
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

/** Counts the keys of a principal that have not expired. */
export async function countUses(db: Database, principal: PrincipalId, now: Date): Promise<number> {
  const { count } = await db
    .selectFrom('idempotency_key')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('principal', '=', principal)
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow();
  return Number(count);
}

export async function keepAnswer(tx: Tx, use: KeyUse, answer: KeptAnswer): Promise<void> {
  await tx
    .updateTable('idempotency_key')
    .set(answer)
    .where('principal', '=', use.principal)
    .where('catalog', '=', use.catalog)
    .where('key', '=', use.key)
    .where('operation', '=', use.operation)
    .execute();
}

export async function deleteExpiredKeys(tx: Tx, now: Date): Promise<void> {
  await tx.deleteFrom('idempotency_key').where('expires_at', '<=', now).execute();
}
