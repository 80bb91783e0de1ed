import type { Clock } from '#shared/clock.ts';
import type { Config } from '#shared/config/config-schema.ts';
import type { PrincipalId } from '#shared/id.ts';
import { recordEvent, type Party } from '../store/postgres/audit-store.ts';
import { requireTenant } from '../store/postgres/catalog-store.ts';
import type { Store } from '../store/postgres/connect.ts';
import { findPasswordHolder } from '../store/postgres/shown-credentials.ts';
import { maySignIn, type TokenPrincipal } from '../store/postgres/principal-store.ts';
import { countFailure, countUnknown, isLocked } from '../store/postgres/sign-in-store.ts';
import { transact } from '../store/postgres/transact.ts';
import { RefusedSignIn, type RefusalReason } from './refused-sign-in.ts';
import type { Attempt, PasswordVerifier } from './verify-password.ts';

type Parts = {
  readonly passwords: PasswordVerifier;
  readonly store: Store;
  readonly clock: Clock;
  readonly config: Config;
};

/** The user whose password is shown, and its PHC string; null = it has none. */
type Holder = {
  readonly principal: Pick<TokenPrincipal, 'id' | 'username' | 'tenant' | 'status' | 'factors'>;
  readonly passwordHash: string | null;
};

const NOBODY = '00000000-0000-0000-0000-000000000000' as PrincipalId;

/**
 * The user of a name, or else of an email, who has shown his password. Wrong passwords lock a user for a while; the lock refuses the right
 * one, too, and the answer is the same. @throws WRONG_PASSWORD, TOO_MANY_SIGN_INS
 */
export async function userByPassword(
  parts: Parts,
  attempt: Attempt,
  password: string,
  names: 'name' | 'name or email' = 'name',
): Promise<TokenPrincipal> {
  const { passwords, store } = parts;
  const { tenant, user } = attempt;
  passwords.requireAllowed(attempt);
  const isName = !user.includes('\0') && !tenant.includes('\0');
  const holder = isName ? await findPasswordHolder(store.db, tenant || undefined, user, names) : undefined;
  const compare: Compare = (hash, whenWrong) => passwords.matches(attempt, password, hash, whenWrong);
  const outcome = await checkPassword(parts, holder, compare);
  if (outcome === 'right' && holder !== undefined) return holder.principal;
  throw new RefusedSignIn(outcome === 'right' ? 'unknown' : outcome, 'the user or the password is wrong');
}

/** One who is signed in shows his password again. @throws WRONG_PASSWORD, TOO_MANY_SIGN_INS */
export async function requireOwnPassword(parts: Parts, holder: Holder, password: string): Promise<void> {
  const { principal } = holder;
  const asker = { tenant: principal.tenant, principal: principal.id };
  const compare: Compare = async (hash, whenWrong) =>
    hash !== undefined && (await parts.passwords.isHashOf(asker, password, hash, whenWrong));
  const self = { id: principal.id, name: principal.username };
  const outcome = await checkPassword(parts, holder, compare, self);
  if (outcome !== 'right') throw new RefusedSignIn(outcome, 'the old password is wrong');
}

/** Compares with a hash, or with nobody's. It may call `whenWrong` before the next password gets its turn. */
type Compare = (hash: string | undefined, whenWrong: () => Promise<void>) => Promise<boolean>;

/**
 * The one place that decides whether a password is a user's: it compares, looks at the lock, and counts.
 * @param by the one who shows it, when that is known
 */
async function checkPassword(
  { store, clock, config }: Parts,
  holder: Holder | undefined,
  compare: Compare,
  by: Party | null = null,
): Promise<'right' | RefusalReason> {
  const principal = holder?.principal;
  // Looked at behind the hash: its time tells nothing, and of many that are shown at once those that waited meet the lock of the first.
  const isOpen = async (): Promise<boolean> =>
    !(await isLocked(store.db, principal?.id ?? NOBODY, new Date(clock.nowMs())));
  let counted: 'open' | 'locked' | undefined;
  const count = async (isRight: boolean, wasOpen: boolean): Promise<void> => {
    counted = wasOpen ? 'open' : 'locked';
    const now = new Date(clock.nowMs());
    const rule = { after: config['principal.lock_after'], forMs: config['principal.lock_time'] };
    await transact(store.db, async (tx) => {
      // Every refusal writes a count: its time must not tell who is there.
      if (principal === undefined || !wasOpen || isRight) return countUnknown(tx);
      if (!(await countFailure(tx, principal.id, now, rule))) return;
      const tenant = { id: await requireTenant(tx, principal.tenant), name: principal.tenant };
      const target = { id: principal.id, name: principal.username };
      await recordEvent(tx, tenant, now, { type: 'lock_user', actor: by, target });
    });
  };
  const isRight = await compare(holder?.passwordHash ?? undefined, async () => count(false, await isOpen()));
  const refused = (wasOpen: boolean): RefusalReason =>
    principal === undefined ? 'unknown' : wasOpen ? 'wrong' : 'locked';
  if (counted !== undefined) return refused(counted === 'open');
  const wasOpen = await isOpen();
  if (principal !== undefined && wasOpen && isRight && maySignIn(principal.status)) {
    // A count of wrong ones stays until the whole sign-in: a factor that is guessed would begin anew with each right password.
    await transact(store.db, (tx) => countUnknown(tx));
    return 'right';
  }
  await count(isRight, wasOpen);
  return principal !== undefined && isRight && wasOpen ? 'not active' : refused(wasOpen);
}
