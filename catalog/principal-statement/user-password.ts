import { SkeinError } from '#shared/error.ts';
import type { PrincipalId } from '#shared/id.ts';
import { checkPassword } from '../principal/password-policy.ts';
import { formerPasswords, keepFormerPassword } from '../store/postgres/credential-store.ts';
import type { PrincipalRecord } from '../store/postgres/principal-record-store.ts';
import { unlock } from '../store/postgres/sign-in-store.ts';
import { storePasswordHash } from '../store/postgres/principal-change-store.ts';
import { findPasswordPolicy } from '../store/postgres/tenant-store.ts';
import type { Call, Changing } from './change.ts';

type NewPassword = {
  readonly password: string;
  readonly username: string;
  readonly email: string | null;
  /** The user who has it already; undefined = a new one. */
  readonly user?: PrincipalRecord;
};

/**
 * Checks a new password by the tenant's policy, and then hashes it: outside of any transaction, because that takes a while.
 * @returns the PHC string to store @throws PASSWORD_POLICY before anything is hashed, TOO_MANY_SIGN_INS
 */
export async function hashNewPassword(
  call: Call,
  tenantId: string,
  { password, username, email, user }: NewPassword,
): Promise<string> {
  const { store, passwords } = call.context;
  const policy = await findPasswordPolicy(store.db, tenantId);
  checkPassword(password, policy, { username, email });
  const asker = { tenant: call.principal.tenant, principal: call.principal.sub };
  if (user !== undefined && policy.history > 0) {
    const current = user.passwordHash === null ? [] : [user.passwordHash];
    const before = await formerPasswords(store.db, user.id, policy.history - current.length);
    for (const hash of [...current, ...before]) {
      if (!(await passwords.isHashOf(asker, password, hash))) continue;
      throw new SkeinError('PASSWORD_POLICY', `the password is one of the last ${policy.history}`);
    }
  }
  return passwords.hash(password, asker);
}

/** A new password: its hash, whether it must be changed, and who else knows it, or knew what it was set by; null = nobody. */
type HashedPassword = { readonly hash: string; readonly mustChange: boolean; readonly setBy: PrincipalId | null };

/** Stores a password that was hashed, keeps the one before for the history, and lets sign-ins begin anew. */
export async function storePassword(
  { tx, tenant, now }: Changing,
  user: PrincipalRecord,
  { hash, mustChange, setBy }: HashedPassword,
): Promise<void> {
  const { history } = await findPasswordPolicy(tx, tenant.id);
  if (user.passwordHash !== null) {
    await keepFormerPassword(tx, user.id, { hash: user.passwordHash, now, count: history });
  }
  await storePasswordHash(tx, user.id, { hash, mustChange, setBy: setBy === user.id ? null : setBy }, now);
  await unlock(tx, user.id);
}
