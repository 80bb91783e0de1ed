import { SkeinError } from '#shared/error.ts';
import type { PrincipalAnswer, RequestOf } from '#shared/principal/principal-request.ts';
import { requirePrincipalAction } from '../authorization/decide-principal.ts';
import { isUniqueViolation } from '../store/postgres/errors.ts';
import { findByName, type PrincipalRecord } from '../store/postgres/principal-record-store.ts';
import {
  storeLegalHold,
  storeName,
  storeProfile,
  storeSuspendedHere,
} from '../store/postgres/principal-change-store.ts';
import { PUBLIC_ROLE } from '../store/postgres/role-store.ts';
import { unlock } from '../store/postgres/sign-in-store.ts';
import { changing, done, partyOf, reading, requireUser, type Call, type Changing } from './change.ts';
import { checkEmail, checkPrincipalName, checkText } from './check-names.ts';
import { moved, moveUser, requireAdminLeft } from './move-user.ts';
import { requireRole } from './roles.ts';
import { hashNewPassword, storePassword } from './user-password.ts';

type AlterUser = RequestOf<'alter_user'>;

/** Runs a change of one user by somebody who may do it. */
const changingUser = (
  call: Call,
  name: string,
  work: (change: Changing, user: PrincipalRecord) => Promise<void>,
): Promise<PrincipalAnswer> =>
  changing(call, async (change) => {
    // A caller who may change nobody is told nothing about the names that are there.
    requirePrincipalAction(change.actor, 'user.create');
    const user = await requireUser(change.tx, change.tenant.id, name);
    requirePrincipalAction(change.actor, 'user.change', user);
    await work(change, user);
    return done('ALTER USER');
  });

/** `ALTER USER SET` and `UNSET`. @throws PASSWORD_POLICY, INVALID_STATE, INVALID_REQUEST, ALREADY_EXISTS */
export async function alterUser(call: Call, input: AlterUser): Promise<PrincipalAnswer> {
  if (input.email !== undefined) checkEmail(input.email);
  for (const key of ['displayName', 'comment', 'defaultWarehouse'] as const) checkText(key, input[key]);
  const hash = input.password === undefined ? null : await hashFor(call, input, input.password);
  return changingUser(call, input.name, async (change, user) => {
    await moveUser(change, user, { kind: 'change' });
    await setProfile(change, user, input);
    if (hash !== null) {
      moved(user, { kind: 'set password' });
      const mustChange = input.mustChangePassword ?? user.mustChangePassword;
      await storePassword(change, user, { hash, mustChange, setBy: change.actor.id });
      await change.record({ type: 'set_password', target: partyOf(user) });
    }
    const { name: _name, kind: _kind, password: _password, ...rest } = input;
    const changed = Object.keys(rest);
    if (changed.length > 0) await change.record({ type: 'alter_user', target: partyOf(user), details: { changed } });
  });
}

async function hashFor(call: Call, { name, email }: AlterUser, password: string): Promise<string> {
  const { db, tenant, actor } = await reading(call);
  requirePrincipalAction(actor, 'user.create');
  const user = await requireUser(db, tenant.id, name);
  requirePrincipalAction(actor, 'user.change', user);
  moved(user, { kind: 'set password' });
  return hashNewPassword(call, tenant.id, { password, username: user.username, email: email ?? user.email, user });
}

/** The role that sessions of the user begin with, as it is spelled. @throws ROLE_NOT_FOUND, INVALID_REQUEST for one that is not granted */
async function grantedRole({ tx, tenant }: Changing, user: PrincipalRecord, name: string): Promise<string> {
  const role = await requireRole(tx, tenant.id, name);
  if (role.name === PUBLIC_ROLE || user.roles.includes(role.name)) return role.name;
  throw new SkeinError('INVALID_REQUEST', `the role ${role.name} is not granted to the user`);
}

async function setProfile(change: Changing, user: PrincipalRecord, input: AlterUser): Promise<void> {
  const { tx, now } = change;
  const named = input.defaultRole;
  const defaultRole = typeof named === 'string' ? await grantedRole(change, user, named) : named;
  const mustChange = input.mustChangePassword ?? user.mustChangePassword;
  try {
    // Its tokens say whether the password must be changed.
    const endsTokens = mustChange !== user.mustChangePassword;
    await storeProfile(tx, user.id, { ...input, defaultRole }, { now, endsTokens });
  } catch (error) {
    if (isUniqueViolation(error)) throw new SkeinError('ALREADY_EXISTS', 'another user has this email');
    throw error;
  }
}

export async function renameUser(call: Call, { name, to }: RequestOf<'rename_user'>): Promise<PrincipalAnswer> {
  checkPrincipalName('a user', to);
  return changingUser(call, name, async (change, user) => {
    await moveUser(change, user, { kind: 'change' });
    const other = await findByName(change.tx, change.tenant.id, to);
    if (other !== undefined && other.id !== user.id) {
      throw new SkeinError('ALREADY_EXISTS', `user or service account ${to} exists already`);
    }
    await storeName(change.tx, user.id, to);
    await change.record({ type: 'rename_user', target: { id: user.id, name: to }, details: { from: user.username } });
  });
}

export const setUserState = (call: Call, { name, to }: RequestOf<'set_user_state'>): Promise<PrincipalAnswer> =>
  changingUser(call, name, async (change, user) => {
    requirePrincipalAction(change.actor, 'user.end', user);
    const target = partyOf(user);
    if (to === 'UNSUSPEND') {
      await moveUser(change, user, { kind: 'unsuspend' });
      await change.record({ type: 'unsuspend_user', target });
      return;
    }
    if (user.suspendedByProvider) await storeSuspendedHere(change.tx, user.id, change.now);
    else await moveUser(change, user, { kind: 'suspend' });
    await requireAdminLeft(change.tx, change.tenant.id, user);
    await change.record({ type: 'suspend_user', target });
  });

export const unlockUser = (call: Call, { name }: RequestOf<'unlock_user'>): Promise<PrincipalAnswer> =>
  changingUser(call, name, async (change, user) => {
    await unlock(change.tx, user.id);
    await change.record({ type: 'unlock_user', target: partyOf(user) });
  });

export async function setLegalHold(
  call: Call,
  { name, reason }: RequestOf<'set_legal_hold'>,
): Promise<PrincipalAnswer> {
  checkText('the reason', reason);
  return changingUser(call, name, async ({ tx, now, actor, record }, user) => {
    if (user.legalHoldByAdmin && !actor.isAdmin) {
      throw new SkeinError('FORBIDDEN', 'a tenant_admin has set the legal hold: a tenant_admin changes and clears it');
    }
    await storeLegalHold(tx, user.id, { reason, byAdmin: actor.isAdmin, now });
    const target = partyOf(user);
    await (reason === null
      ? record({ type: 'clear_legal_hold', target })
      : record({ type: 'set_legal_hold', target, details: { reason } }));
  });
}
