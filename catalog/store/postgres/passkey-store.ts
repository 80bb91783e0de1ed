import { sql } from 'kysely';
import type { PrincipalId } from '#shared/id.ts';
import { GIVER } from './factor-store.ts';
import type { Database, Tx } from './tables.ts';

/** Passkeys of users. */

export type Passkey = {
  readonly id: string;
  /** Base64url. */
  readonly credentialId: string;
  /** COSE. */
  readonly publicKey: Buffer;
  readonly counter: number;
  readonly transports: readonly string[];
  readonly name: string;
  readonly createdAt: Date;
  readonly usedAt: Date | null;
};

/** The passkeys of a user, the oldest first. */
export async function listPasskeys(db: Database, principal: PrincipalId): Promise<readonly Passkey[]> {
  const rows = await db
    .selectFrom('passkey')
    .select([
      'id',
      'credential_id as credentialId',
      'public_key as publicKey',
      'counter',
      'transports',
      'name',
      'created_at as createdAt',
      'used_at as usedAt',
    ])
    .where('principal_id', '=', principal)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map((row) => ({ ...row, counter: Number(row.counter) }));
}

/** Keeps a passkey, with who may have made it in the user's name. @returns false when the credential is kept already, whoever has it */
export async function insertPasskey(
  tx: Tx,
  principal: PrincipalId,
  passkey: Omit<Passkey, 'usedAt'>,
): Promise<boolean> {
  const { rows } = await sql<{ readonly id: string }>`
    insert into catalog.passkey (id, principal_id, credential_id, public_key, counter, transports, name, given_by, created_at)
    select ${passkey.id}, id, ${passkey.credentialId}, ${passkey.publicKey}, ${passkey.counter}::bigint,
      ${sql.val([...passkey.transports])}::text[], ${passkey.name}, ${GIVER}, ${passkey.createdAt}::timestamptz
    from catalog.principal where id = ${principal}
    on conflict (credential_id) do nothing returning id`.execute(tx);
  return rows.length > 0;
}

/** Moves the counter of a passkey on. @returns false when it would not rise, though the passkey counts */
export async function usePasskey(
  tx: Tx,
  id: string,
  { counter, now }: { readonly counter: number; readonly now: Date },
): Promise<boolean> {
  const { rows } = await sql<{ readonly id: string }>`
    update catalog.passkey set counter = ${counter}::bigint, used_at = ${now}::timestamptz
    where id = ${id} and (counter < ${counter}::bigint or (counter = 0 and ${counter}::bigint = 0)) returning id`.execute(
    tx,
  );
  return rows.length > 0;
}

export async function deletePasskey(tx: Tx, principal: PrincipalId, id: string): Promise<string | undefined> {
  const row = await tx
    .deleteFrom('passkey')
    .where('principal_id', '=', principal)
    .where('id', '=', id)
    .returning('name')
    .executeTakeFirst();
  return row?.name;
}
