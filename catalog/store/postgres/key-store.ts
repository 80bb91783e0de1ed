import { sql } from 'kysely';
import type { JsonObject } from '#shared/json.ts';
import type { Database, Tx } from './tables.ts';

/** Signing keys, newest first. */
export type StoredKey = { readonly kid: string; readonly privateJwk: JsonObject; readonly createdAtMs: number };

export async function listKeys(db: Database): Promise<StoredKey[]> {
  const rows = await db.selectFrom('signing_key').selectAll().orderBy('created_at', 'desc').execute();
  return rows.map((row) => ({ kid: row.kid, privateJwk: row.private_jwk, createdAtMs: row.created_at.getTime() }));
}

export async function insertKey(tx: Tx, key: StoredKey): Promise<void> {
  await tx
    .insertInto('signing_key')
    .values({ kid: key.kid, private_jwk: JSON.stringify(key.privateJwk), created_at: new Date(key.createdAtMs) })
    .execute();
}

export async function deleteKeys(tx: Tx, kids: readonly string[]): Promise<void> {
  if (kids.length > 0) await tx.deleteFrom('signing_key').where('kid', 'in', kids).execute();
}

/** Key of the advisory lock of the rotation: only one of several catalog processes makes the new key. */
const ROTATION_LOCK = 5_324_003;

/** Lets no other catalog change the keys until the transaction ends. */
export async function lockKeys(tx: Tx): Promise<void> {
  await sql`select pg_advisory_xact_lock(${ROTATION_LOCK})`.execute(tx);
}
