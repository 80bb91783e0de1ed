import type { RescueUserRequest } from '#proto/generated/skein/catalog/v1/RescueUserRequest.ts';
import type { Principal } from '#shared/authorization/principal.ts';
import { SkeinError } from '#shared/error.ts';
import { principalId, tenantId } from '#shared/id.ts';
import type { CatalogContext } from '../context.ts';
import { requireUser } from '../principal-statement/change.ts';
import { moved } from '../principal-statement/move-user.ts';
import { hashNewPassword, storePassword } from '../principal-statement/user-password.ts';
import { recordOperator } from '../store/postgres/audit-store.ts';
import { requireTenant } from '../store/postgres/catalog-store.ts';
import { deleteFactors } from '../store/postgres/factor-store.ts';
import type { PrincipalRecord } from '../store/postgres/principal-record-store.ts';
import { raiseSessionEpoch } from '../store/postgres/principal-store.ts';
import { unlock } from '../store/postgres/sign-in-store.ts';
import type { Tx } from '../store/postgres/tables.ts';
import { lockPrincipalsOf } from '../store/postgres/tenant-store.ts';
import { transact } from '../store/postgres/transact.ts';

type Rescue = {
  readonly tx: Tx;
  readonly tenant: { readonly id: string; readonly name: string };
  readonly user: PrincipalRecord;
  readonly now: Date;
  /** Hash of the new password; undefined: none is set. */
  readonly hash: string | undefined;
};

const RESCUES: Readonly<Record<string, (rescue: Rescue) => Promise<void>>> = {
  async reset_mfa({ tx, tenant, user, now }) {
    const factors = await deleteFactors(tx, user.id);
    await raiseSessionEpoch(tx, user.id);
    const target = { id: user.id, name: user.username };
    await recordOperator(tx, tenant, now, { type: 'reset_mfa', target, details: { factors: [...factors] } });
  },
  async unlock({ tx, tenant, user, now }) {
    await unlock(tx, user.id);
    await recordOperator(tx, tenant, now, { type: 'unlock_user', target: { id: user.id, name: user.username } });
  },
  async set_password({ tx, tenant, user, now, hash }) {
    if (hash === undefined) throw new SkeinError('INVALID_REQUEST', 'the user needs a password');
    moved(user, { kind: 'set password' });
    await storePassword({ tx, tenant, now }, user, { hash, mustChange: true, setBy: null });
    await recordOperator(tx, tenant, now, { type: 'set_password', target: { id: user.id, name: user.username } });
  },
};

/**
 * Does what the operator of the cluster asks for a user who cannot sign in any more.
 * @throws TENANT_NOT_FOUND, PRINCIPAL_NOT_FOUND, PASSWORD_POLICY, INVALID_REQUEST, INVALID_STATE
 */
export async function rescueUser(
  context: CatalogContext,
  { tenant: name, user: username, what, password }: RescueUserRequest,
): Promise<Record<string, never>> {
  const rescue = Object.hasOwn(RESCUES, what) ? RESCUES[what] : undefined;
  if (rescue === undefined) throw new SkeinError('INVALID_REQUEST', `no such help for a user: ${what}`);
  const { store, clock } = context;
  const tenant = { id: await requireTenant(store.db, name), name };
  const found = await requireUser(store.db, tenant.id, username);
  const hash = what === 'set_password' ? await newHash(context, tenant, found, password) : undefined;
  await transact(store.db, async (tx) => {
    await lockPrincipalsOf(tx, tenant);
    const user = await requireUser(tx, tenant.id, username);
    await rescue({ tx, tenant, user, now: new Date(clock.nowMs()), hash });
  });
  return {};
}

/** The hash of a password that keeps the rules of the tenant. */
function newHash(
  context: CatalogContext,
  tenant: { readonly id: string; readonly name: string },
  user: PrincipalRecord,
  password: string,
): Promise<string> {
  const principal: Principal = {
    sub: principalId(user.id),
    tenant: tenantId(tenant.name),
    preferred_username: user.username,
    roles: [],
    scope: '',
    sess_epoch: user.sessionEpoch,
    auth_method: 'operator',
  };
  const { username, email } = user;
  return hashNewPassword({ context, principal, term: '0' }, tenant.id, { password, username, email, user });
}
