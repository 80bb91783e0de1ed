import { SkeinError } from '#shared/error.ts';
import { principalId, type PrincipalId } from '#shared/id.ts';
import { clientScopes, raiseSessionEpoch, type TokenPrincipal } from './principal-store.ts';
import { privilegesOf } from './role-store.ts';
import type { Database, Tx } from './tables.ts';

/** OAuth clients: the credentials of service accounts, one for each. */

export type ClientRow = {
  readonly clientId: string;
  readonly principal: TokenPrincipal;
  /** The scopes that its tokens may be granted. */
  readonly scopes: readonly string[];
  readonly secretSha256: Buffer;
  readonly madeAccount: boolean;
  /** The secret before the last rotation, and until when it is valid. */
  readonly previous: { readonly sha256: Buffer; readonly untilMs: number } | undefined;
  readonly createdAt: Date;
  readonly rotatedAt: Date | undefined;
};

/** Maximum number of clients of one tenant: one list shows them all. */
const CLIENTS_MAX = 10_000;

/** Inserts a client. @throws INVALID_REQUEST when the tenant has too many */
export async function insertClient(
  tx: Tx,
  tenantId: string,
  client: {
    readonly clientId: string;
    readonly principal: string;
    readonly scopes: readonly string[];
    readonly secretSha256: Buffer;
    /** The account is its own, and goes with it. */
    readonly madeAccount: boolean;
  },
): Promise<void> {
  const { count } = await tx
    .selectFrom('oauth_client as c')
    .innerJoin('principal as p', 'p.id', 'c.principal_id')
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .where('p.tenant_id', '=', tenantId)
    .executeTakeFirstOrThrow();
  if (Number(count) >= CLIENTS_MAX)
    throw new SkeinError('INVALID_REQUEST', `a tenant has at most ${CLIENTS_MAX} clients`);
  await tx
    .insertInto('oauth_client')
    .values({
      client_id: client.clientId,
      principal_id: client.principal,
      scopes: [...client.scopes],
      secret_sha256: client.secretSha256,
      made_account: client.madeAccount,
    })
    .execute();
}

export async function hasClient(tx: Tx, principal: PrincipalId): Promise<boolean> {
  const row = await tx
    .selectFrom('oauth_client')
    .select('client_id')
    .where('principal_id', '=', principal)
    .executeTakeFirst();
  return row !== undefined;
}

const clients = (db: Database) =>
  db
    .selectFrom('oauth_client as c')
    .innerJoin('principal as p', 'p.id', 'c.principal_id')
    .innerJoin('tenant as t', 't.id', 'p.tenant_id')
    .select([
      'c.client_id',
      'c.scopes',
      'c.secret_sha256',
      'c.previous_sha256',
      'c.previous_until',
      'c.created_at',
      'c.rotated_at',
      'c.made_account',
      'p.id',
      'p.username',
      'p.status',
      'p.roles',
      'p.session_epoch',
      't.name as tenant',
    ])
    .select(privilegesOf().as('privileges'));
type Row = Awaited<ReturnType<ReturnType<typeof clients>['executeTakeFirstOrThrow']>>;

export async function findClient(db: Database, clientId: string): Promise<ClientRow | undefined> {
  const row = await clients(db).where('c.client_id', '=', clientId).executeTakeFirst();
  return row === undefined ? undefined : clientOf(row);
}

/** Finds the client by its current secret, or by its previous one; secrets are unique. */
export async function findClientBySecret(db: Database, sha256: Buffer): Promise<ClientRow | undefined> {
  const row = await clients(db)
    .where((eb) => eb.or([eb('c.secret_sha256', '=', sha256), eb('c.previous_sha256', '=', sha256)]))
    .executeTakeFirst();
  return row === undefined ? undefined : clientOf(row);
}

/** Returns the client of a service account and locks its row until the transaction ends. @throws PRINCIPAL_NOT_FOUND */
export async function lockClient(tx: Tx, tenantId: string, name: string): Promise<ClientRow> {
  const row = await clients(tx)
    .where('p.tenant_id', '=', tenantId)
    .where('p.username', '=', name)
    .forUpdate('c')
    .executeTakeFirst();
  if (row === undefined) throw new SkeinError('PRINCIPAL_NOT_FOUND', `Client does not exist: ${name}`);
  return clientOf(row);
}

/** Lists the clients of a tenant by name. */
export async function listClients(db: Database, tenantId: string): Promise<ClientRow[]> {
  const rows = await clients(db).where('p.tenant_id', '=', tenantId).orderBy('p.username').execute();
  return rows.map(clientOf);
}

/** Replaces the secret; the current one stays valid until `previousUntil`, or ends now. */
export async function replaceSecret(
  tx: Tx,
  client: ClientRow,
  next: { readonly sha256: Buffer; readonly now: Date; readonly previousUntil: Date | undefined },
): Promise<void> {
  const { sha256, now, previousUntil } = next;
  await tx
    .updateTable('oauth_client')
    .set({
      secret_sha256: sha256,
      previous_sha256: previousUntil === undefined ? null : client.secretSha256,
      previous_until: previousUntil ?? null,
      rotated_at: now,
    })
    .where('client_id', '=', client.clientId)
    .execute();
}

/**
 * Deletes a client with its refresh tokens, and the service account that was made for it; a trigger notifies every service that its tokens
 * have ended.
 */
export async function deleteClient(tx: Tx, client: ClientRow): Promise<void> {
  if (!client.madeAccount) {
    await tx.deleteFrom('oauth_client').where('client_id', '=', client.clientId).execute();
    return raiseSessionEpoch(tx, client.principal.id);
  }
  await tx.deleteFrom('principal').where('id', '=', client.principal.id).execute();
}

const clientOf = (row: Row): ClientRow => ({
  clientId: row.client_id,
  principal: {
    id: principalId(row.id),
    username: row.username,
    status: row.status,
    roles: row.roles,
    sessionEpoch: row.session_epoch,
    tenant: row.tenant,
    scopes: clientScopes(row.scopes, row),
    // A service account has no password.
    mustChangePassword: false,
    privileges: row.privileges,
  },
  scopes: clientScopes(row.scopes, row),
  secretSha256: row.secret_sha256,
  madeAccount: row.made_account,
  previous:
    row.previous_sha256 === null || row.previous_until === null
      ? undefined
      : { sha256: row.previous_sha256, untilMs: row.previous_until.getTime() },
  createdAt: row.created_at,
  rotatedAt: row.rotated_at ?? undefined,
});
