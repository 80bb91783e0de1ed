import { SkeinError } from '#shared/error.ts';
import { principalId, type PrincipalId } from '#shared/id.ts';
import { isUniqueViolation } from './errors.ts';
import type { PrincipalStatus, Tx } from './tables.ts';

/** Users of a tenant. */

export type PrincipalRow = {
  readonly id: PrincipalId;
  readonly username: string;
  readonly status: PrincipalStatus;
  readonly roles: readonly string[];
  readonly sessionEpoch: number;
};

/** Role that may do everything in its tenant. */
export const TENANT_ADMIN = 'tenant_admin';

const USERNAME_LENGTH_MAX = 255;

export async function insertPrincipal(
  tx: Tx,
  principal: {
    readonly tenantId: string;
    readonly username: string;
    readonly passwordHash: string;
    readonly roles: readonly string[];
    readonly isBootstrap: boolean;
  },
): Promise<PrincipalId> {
  const { tenantId, username, passwordHash, roles, isBootstrap } = principal;
  if (username === '' || username.length > USERNAME_LENGTH_MAX || username.includes('\0')) {
    throw new SkeinError('INVALID_REQUEST', `not a user name: ${JSON.stringify(username)}`);
  }
  try {
    const { id } = await tx
      .insertInto('principal')
      .values({
        tenant_id: tenantId,
        username,
        password_hash: passwordHash,
        roles: [...roles],
        is_bootstrap_principal: isBootstrap,
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    return principalId(id);
  } catch (error) {
    if (isUniqueViolation(error)) throw new SkeinError('ALREADY_EXISTS', `User already exists: ${username}`);
    throw error;
  }
}

/** @throws PRINCIPAL_NOT_FOUND */
export async function requirePrincipal(tx: Tx, tenantId: string, username: string): Promise<PrincipalRow> {
  const row = await tx
    .selectFrom('principal')
    .select(['id', 'username', 'status', 'roles', 'session_epoch'])
    .where('tenant_id', '=', tenantId)
    .where('username', '=', username)
    .executeTakeFirst();
  if (row === undefined) throw new SkeinError('PRINCIPAL_NOT_FOUND', `User does not exist: ${username}`);
  const { id, session_epoch: sessionEpoch, ...rest } = row;
  return { id: principalId(id), sessionEpoch, ...rest };
}

/** Epochs above 0, by principal: the ones that a token can be too old for. */
export async function sessionEpochs(tx: Tx): Promise<ReadonlyMap<PrincipalId, number>> {
  const rows = await tx
    .selectFrom('principal')
    .select(['id', 'session_epoch'])
    .where('session_epoch', '>', 0)
    .execute();
  return new Map(rows.map((row) => [principalId(row.id), row.session_epoch]));
}
