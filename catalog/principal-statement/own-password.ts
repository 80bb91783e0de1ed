import { SkeinError } from '#shared/error.ts';
import type { PrincipalAnswer, RequestOf } from '#shared/principal/principal-request.ts';
import { requireOwnPassword } from '../principal/password-of-user.ts';
import { mayGrant } from '../store/postgres/lesser-credentials.ts';
import { findInvited, takeInvitation } from '../store/postgres/credential-store.ts';
import { findById, sessionEpochOf, type PrincipalRecord } from '../store/postgres/principal-record-store.ts';
import { setStatus } from '../store/postgres/principal-change-store.ts';
import { sha256 } from '../token/secret.ts';
import { changing, done, partyOf, reading, type Call, type Changing } from './change.ts';
import { moved } from './move-user.ts';
import { hashNewPassword, storePassword } from './user-password.ts';

/** Longest token that is looked for. */
const TOKEN_LENGTH_MAX = 200;

/**
 * `ALTER USER SELF SET PASSWORD`: the old password is verified first, and a wrong one counts towards the lock.
 * @throws WRONG_PASSWORD, PASSWORD_POLICY, TOO_MANY_SIGN_INS
 */
export async function setOwnPassword(
  call: Call,
  { password, oldPassword }: RequestOf<'set_own_password'>,
  also: WithPassword = () => Promise.resolve(),
): Promise<PrincipalAnswer> {
  const { tenant, actor } = await reading(call);
  if (actor.kind !== 'USER') throw new SkeinError('FORBIDDEN', 'a service account has no password');
  const holder = { principal: { ...actor, tenant: tenant.name }, passwordHash: actor.passwordHash };
  await requireOwnPassword(call.context, holder, oldPassword);
  return replaceOwnPassword(call, actor, password, also);
}

/** A step of the transaction in which a new password is stored, with the session epoch that it has raised. */
export type WithPassword = (change: Changing, epoch: number) => Promise<void>;

/** A new password of a user who has just proven himself. @param actor the user at the proof @throws WRONG_PASSWORD, PASSWORD_POLICY */
export async function replaceOwnPassword(
  call: Call,
  actor: PrincipalRecord,
  password: string,
  also: WithPassword,
): Promise<PrincipalAnswer> {
  const { tenant } = await reading(call);
  const hash = await hashNewPassword(call, tenant.id, {
    password,
    username: actor.username,
    email: actor.email,
    user: actor,
  });
  return changing(call, async (change) => {
    if (change.actor.passwordHash !== actor.passwordHash) throw wrong();
    moved(change.actor, { kind: 'set password' });
    // The giver of the old password may be the one who sets this one.
    const { id, passwordSetBy: by } = change.actor;
    const setBy = by === null || (await mayGrant(change.tx, by, id)) ? null : by;
    await storePassword(change, change.actor, { hash, mustChange: false, setBy });
    await change.record({ type: 'set_password', target: partyOf(change.actor) });
    await also(change, await sessionEpochOf(change.tx, id));
    return done('ALTER USER');
  });
}

const wrong = (): SkeinError => new SkeinError('WRONG_PASSWORD', 'the old password is wrong');

/** `REDEEM INVITATION`: anybody with a token of the tenant. @throws InvalidInvitation, PASSWORD_POLICY */
export async function redeemInvitation(
  call: Call,
  { token, password }: RequestOf<'redeem_invitation'>,
): Promise<PrincipalAnswer> {
  const { db, tenant, now } = await reading(call);
  const invalid = new SkeinError('InvalidInvitation', 'the invitation is not valid: it is unknown, used or over');
  if (token.length > TOKEN_LENGTH_MAX) throw invalid;
  const digest = sha256(token);
  const id = await findInvited(db, tenant.id, digest, now);
  const user = id === undefined ? undefined : await findById(db, id);
  if (user === undefined) throw invalid;
  const hash = await hashNewPassword(call, tenant.id, { password, username: user.username, email: user.email });
  return changing(call, async (change) => {
    const invited = await findById(change.tx, user.id);
    const invitation = await takeInvitation(change.tx, digest, change.now);
    if (invited === undefined || invitation === undefined) throw invalid;
    const { state } = moved(invited, { kind: 'redeem' });
    if (state.status === 'ARCHIVED') throw invalid;
    await setStatus(change.tx, user.id, state.status);
    await storePassword(change, invited, { hash, mustChange: false, setBy: invitation.createdBy });
    await change.record({ type: 'redeem_invitation', target: partyOf(invited) });
    return done('REDEEM INVITATION');
  });
}
