import { randomBytes } from 'node:crypto';
import type { ClientList } from '#proto/generated/skein/catalog/v1/ClientList.ts';
import type { ClientSecret } from '#proto/generated/skein/catalog/v1/ClientSecret.ts';
import type { CreateClientRequest } from '#proto/generated/skein/catalog/v1/CreateClientRequest.ts';
import type { DropClientRequest } from '#proto/generated/skein/catalog/v1/DropClientRequest.ts';
import type { ListClientsRequest } from '#proto/generated/skein/catalog/v1/ListClientsRequest.ts';
import type { RotateClientRequest } from '#proto/generated/skein/catalog/v1/RotateClientRequest.ts';
import { SkeinError } from '#shared/error.ts';
import type { PrincipalId } from '#shared/id.ts';
import { SCOPES } from '#shared/authorization/token-claims.ts';
import type { CatalogContext } from '../context.ts';
import { requireTenant } from '../store/postgres/catalog-store.ts';
import {
  deleteClient,
  hasClient,
  insertClient,
  listClients as clientsOf,
  replaceSecret,
  lockClient,
} from '../store/postgres/client-store.ts';
import { recordOperator } from '../store/postgres/audit-store.ts';
import { findByName } from '../store/postgres/principal-record-store.ts';
import type { Tx } from '../store/postgres/tables.ts';
import { insertPrincipal, raiseSessionEpoch } from '../store/postgres/principal-store.ts';
import { CLIENT_SECRET_PREFIX, newSecret, sha256 } from '../token/secret.ts';
import { transact } from '../store/postgres/transact.ts';

/**
 * Calls of the operator for OAuth clients: the credential of a service account, which is made with it or was there before. Only the answer
 * of the creating or rotating call shows the secret.
 */

const ROLE = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$/;
const ROLES_MAX = 100;
/** Maximum overlap in which the previous secret stays valid after a rotation. */
const OVERLAP_MAX_MS = 30 * 86_400_000;

/** @throws TENANT_NOT_FOUND, ALREADY_EXISTS, INVALID_REQUEST for an unknown scope or an odd name or role */
export async function createClient(context: CatalogContext, request: CreateClientRequest): Promise<ClientSecret> {
  const { name } = request;
  const unknown = request.scope.filter((scope) => !Object.hasOwn(SCOPES, scope));
  if (unknown.length > 0) throw new SkeinError('INVALID_REQUEST', `unknown scope: ${unknown.join(' ')}`);
  const roles = [...new Set(request.roles)];
  const odd = roles.find((role) => !ROLE.test(role));
  if (odd !== undefined) throw new SkeinError('INVALID_REQUEST', `not a role name: ${odd}`);
  if (roles.length > ROLES_MAX) throw new SkeinError('INVALID_REQUEST', `a client has at most ${ROLES_MAX} roles`);
  // Hexadecimal: nothing that a form, a header, a URL or `<client_id>:<client_secret>` would have to escape.
  const clientId = randomBytes(16).toString('hex');
  const secret = newSecret(CLIENT_SECRET_PREFIX);
  await transact(context.store.db, async (tx) => {
    const tenant = { id: await requireTenant(tx, request.tenant), name: request.tenant };
    const account = await accountFor(tx, tenant.id, { name, roles });
    const scopes = request.scope.length === 0 ? Object.keys(SCOPES) : [...new Set(request.scope)];
    const { id: principal, madeAccount } = account;
    await insertClient(tx, tenant.id, { clientId, principal, scopes, secretSha256: sha256(secret), madeAccount });
    await recordOperator(tx, tenant, new Date(context.clock.nowMs()), {
      type: 'create_client',
      target: { id: principal, name: account.name },
      details: { client_id: clientId, scope: scopes.join(' '), roles },
    });
  });
  return { client_id: clientId, client_secret: secret };
}

type Account = { readonly id: PrincipalId; readonly name: string; readonly madeAccount: boolean };

/** The service account of this name that has no client yet, else a new one. @throws ALREADY_EXISTS, INVALID_REQUEST */
async function accountFor(
  tx: Tx,
  tenantId: string,
  { name, roles }: { readonly name: string; readonly roles: readonly string[] },
): Promise<Account> {
  const found = await findByName(tx, tenantId, name);
  if (found?.kind !== 'SERVICE' || (await hasClient(tx, found.id))) {
    const id = await insertPrincipal(tx, { tenantId, username: name, passwordHash: null, roles, isBootstrap: false });
    return { id, name, madeAccount: true };
  }
  if (roles.length > 0) {
    throw new SkeinError(
      'INVALID_REQUEST',
      `the service account ${found.username} is there: GRANT ROLE gives it roles`,
    );
  }
  return { id: found.id, name: found.username, madeAccount: false };
}

/**
 * Replaces the secret of a client. Without an overlap, as after a leak, the old secret and all tokens of the client end at once. With an
 * overlap, as in a planned change, the old secret stays valid for that time and tokens stay valid.
 * @throws TENANT_NOT_FOUND, PRINCIPAL_NOT_FOUND, INVALID_REQUEST
 */
export async function rotateClient(context: CatalogContext, request: RotateClientRequest): Promise<ClientSecret> {
  const overlapMs = Number(request.overlap_ms);
  if (!(overlapMs >= 0 && overlapMs <= OVERLAP_MAX_MS)) {
    throw new SkeinError(
      'INVALID_REQUEST',
      `the old secret can be kept for at most ${OVERLAP_MAX_MS / 86_400_000} days`,
    );
  }
  const secret = newSecret(CLIENT_SECRET_PREFIX);
  const now = new Date(context.clock.nowMs());
  const previousUntil = overlapMs === 0 ? undefined : new Date(now.getTime() + overlapMs);
  const clientId = await transact(context.store.db, async (tx) => {
    const tenant = { id: await requireTenant(tx, request.tenant), name: request.tenant };
    const client = await lockClient(tx, tenant.id, request.name);
    await replaceSecret(tx, client, { sha256: sha256(secret), now, previousUntil });
    if (previousUntil === undefined) await raiseSessionEpoch(tx, client.principal.id);
    await recordOperator(tx, tenant, now, {
      type: 'rotate_client',
      target: { id: client.principal.id, name: client.principal.username },
      details: { overlap_seconds: overlapMs / 1_000 },
    });
    return client.clientId;
  });
  return { client_id: clientId, client_secret: secret };
}

/** Lists the clients of a tenant by name, without secrets. @throws TENANT_NOT_FOUND */
export async function listClientsCall(context: CatalogContext, request: ListClientsRequest): Promise<ClientList> {
  const { db } = context.store;
  const clients = await clientsOf(db, await requireTenant(db, request.tenant));
  const nowMs = context.clock.nowMs();
  return {
    clients: clients.map(({ clientId, principal, scopes, createdAt, rotatedAt, previous }) => ({
      name: principal.username,
      client_id: clientId,
      roles: principal.roles,
      scope: scopes,
      status: principal.status,
      created_at_ms: String(createdAt.getTime()),
      rotated_at_ms: String(rotatedAt?.getTime() ?? 0),
      previous_until_ms: String(previous !== undefined && previous.untilMs > nowMs ? previous.untilMs : 0),
    })),
  };
}

/**
 * Drops a client. All its tokens are refused everywhere within a second; its name is free again.
 * @throws TENANT_NOT_FOUND, PRINCIPAL_NOT_FOUND
 */
export async function dropClient(context: CatalogContext, request: DropClientRequest): Promise<Record<string, never>> {
  await transact(context.store.db, async (tx) => {
    const tenant = { id: await requireTenant(tx, request.tenant), name: request.tenant };
    const client = await lockClient(tx, tenant.id, request.name);
    await deleteClient(tx, client);
    await recordOperator(tx, tenant, new Date(context.clock.nowMs()), {
      type: 'drop_client',
      target: { id: client.principal.id, name: client.principal.username },
      details: { drops_account: client.madeAccount },
    });
  });
  return {};
}
