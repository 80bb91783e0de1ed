import { PRINCIPAL_SCOPES } from '#shared/authorization/token-claims.ts';
import { SkeinError } from '#shared/error.ts';
import { principalId, type PrincipalId } from '#shared/id.ts';
import type { Privilege } from '#shared/principal/privilege.ts';
import type { MfaRequired } from '#shared/config/mfa-required.ts';
import { isUniqueViolation } from './errors.ts';
import type { FactorKind } from './factor-store.ts';
import type { PrincipalStatus, Database, Tx } from './tables.ts';

/** Users of a tenant. */

/** Whether a principal of this status signs in; PROVISIONED is one that an identity provider has made. */
export const maySignIn = (status: PrincipalStatus): boolean => status === 'ACTIVE' || status === 'PROVISIONED';

export type PrincipalRow = {
  readonly id: PrincipalId;
  readonly username: string;
  readonly status: PrincipalStatus;
  readonly roles: readonly string[];
  readonly sessionEpoch: number;
};

/** Role that allows everything in its tenant. */
export const TENANT_ADMIN = 'tenant_admin';

/** The scopes of an OAuth client that its tokens may have now: those about others only while its account has tenant_admin or a privilege. */
export const clientScopes = (
  scopes: readonly string[],
  { roles, privileges }: Pick<TokenPrincipal, 'roles' | 'privileges'>,
): readonly string[] =>
  roles.includes(TENANT_ADMIN) || privileges.length > 0
    ? scopes
    : scopes.filter((scope) => !PRINCIPAL_SCOPES.includes(scope));

const USERNAME_LENGTH_MAX = 255;

export async function insertPrincipal(
  tx: Tx,
  principal: {
    readonly tenantId: string;
    readonly username: string;
    /** Absent for a service account. */
    readonly email?: string;
    /** Null for a service account. */
    readonly passwordHash: string | null;
    readonly roles: readonly string[];
    readonly isBootstrap: boolean;
  },
): Promise<PrincipalId> {
  const { tenantId, username, email = null, passwordHash, roles, isBootstrap } = principal;
  if (username === '' || username.length > USERNAME_LENGTH_MAX || username.includes('\0')) {
    throw new SkeinError('INVALID_REQUEST', `not a user name: ${JSON.stringify(username)}`);
  }
  try {
    const { id } = await tx
      .insertInto('principal')
      .values({
        tenant_id: tenantId,
        username,
        email,
        password_hash: passwordHash,
        roles: [...roles],
        is_bootstrap_principal: isBootstrap,
        kind: passwordHash === null ? 'SERVICE' : 'USER',
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
export async function requirePrincipal(db: Database, tenantId: string, username: string): Promise<PrincipalRow> {
  const row = await db
    .selectFrom('principal')
    .select(['id', 'username', 'status', 'roles', 'session_epoch'])
    .where('tenant_id', '=', tenantId)
    .where('username', '=', username)
    .executeTakeFirst();
  if (row === undefined) throw new SkeinError('PRINCIPAL_NOT_FOUND', `User does not exist: ${username}`);
  const { id, session_epoch: sessionEpoch, ...rest } = row;
  return { id: principalId(id), sessionEpoch, ...rest };
}

/** The current state of a principal for which a token is issued, not its state at sign-in. */
export type TokenPrincipal = PrincipalRow & {
  readonly tenant: string;
  /** The scopes that its tokens may be granted. */
  readonly scopes: readonly string[];
  /** Its tokens are good for setting its password, and for nothing else. */
  readonly mustChangePassword: boolean;
  readonly privileges: readonly Privilege[];
  /** Its second factors; a service account has none. */
  readonly factors: readonly FactorKind[];
  /** Those who must have one, by the rule of its tenant. */
  readonly mfaRequired: MfaRequired;
  readonly isBootstrap: boolean;
};

/** A principal as its tokens name it. */
export const subjectOf = ({
  id,
  username,
  roles,
  sessionEpoch,
  tenant,
  mustChangePassword,
  privileges,
}: TokenPrincipal) => ({
  principal: id,
  username,
  roles,
  sessionEpoch,
  tenant,
  mustChangePassword,
  privileges,
});

/** Finds the name of a principal's tenant; undefined when there is no such principal. */
export async function findTenantOf(db: Database, id: PrincipalId): Promise<string | undefined> {
  const row = await db
    .selectFrom('principal as p')
    .innerJoin('tenant as t', 't.id', 'p.tenant_id')
    .select('t.name')
    .where('p.id', '=', id)
    .executeTakeFirst();
  return row?.name;
}

/** Revokes all tokens of the principal, everywhere and at once. */
export async function raiseSessionEpoch(tx: Tx, id: PrincipalId): Promise<void> {
  await tx
    .updateTable('principal')
    .set((eb) => ({ session_epoch: eb('session_epoch', '+', 1) }))
    .where('id', '=', id)
    .execute();
}

/** Epoch of a deleted principal, above that of all its tokens. The trigger that announces the deletion uses the same value. */
export const EPOCH_OF_DROPPED = 2_147_483_647;

type KnownEpoch = {
  readonly epoch: number;
  /** Suspended or dropped, or its identity provider is. */
  readonly stopped: boolean;
};

/** Returns the epochs above 0 by principal: only those can make a token too old. */
export async function sessionEpochs(db: Database): Promise<ReadonlyMap<PrincipalId, KnownEpoch>> {
  const raised = await db
    .selectFrom('principal')
    .select(['id', 'session_epoch', 'status', 'stopped_epoch'])
    .where('session_epoch', '>', 0)
    .execute();
  // This query must come second, so that it finds a principal deleted between the two.
  const dropped = await db.selectFrom('dropped_principal').select('id').execute();
  return new Map([
    ...raised.map(({ id, session_epoch: epoch, status, stopped_epoch: stoppedAt }) => {
      const stopped = status === 'SUSPENDED' || status === 'DEACTIVATED' || stoppedAt === epoch;
      return [principalId(id), { epoch, stopped }] as const;
    }),
    ...dropped.map(({ id }) => [principalId(id), { epoch: EPOCH_OF_DROPPED, stopped: true }] as const),
  ]);
}

/** Deletes the records of principals deleted before `time`: all their tokens have expired. */
export async function forgetDroppedPrincipals(tx: Tx, time: Date): Promise<void> {
  await tx.deleteFrom('dropped_principal').where('dropped_at', '<', time).execute();
}
