import type { Clock } from '#shared/clock.ts';
import type { Config } from '#shared/config/config-schema.ts';
import type { PrincipalId } from '#shared/id.ts';
import type { SealingKeys } from '#shared/sealing-keys.ts';
import { recordEvent, type AuditEvent } from '../store/postgres/audit-store.ts';
import { requireTenant } from '../store/postgres/catalog-store.ts';
import type { Store } from '../store/postgres/connect.ts';
import { authenticatorOwner, findAuthenticator, takeRecoveryCode, takeStep } from '../store/postgres/factor-store.ts';
import { countFailure, holdCounter, unlock } from '../store/postgres/sign-in-store.ts';
import type { Tx } from '../store/postgres/tables.ts';
import { transact } from '../store/postgres/transact.ts';
import { digestOfRecoveryCode } from './recovery-codes.ts';
import { stepOfCode } from './totp.ts';

export type FactorParts = {
  readonly store: Store;
  readonly clock: Clock;
  readonly config: Config;
  readonly sealing: SealingKeys;
};

/** The user who shows a factor, after his password or with a token. */
export type FactorOwner = { readonly id: PrincipalId; readonly username: string; readonly tenant: string };

/** The moment of a proof, and the audit log of the user who proves himself. */
export type Proving = {
  readonly tx: Tx;
  readonly now: Date;
  readonly record: (event: Omit<AuditEvent, 'actor' | 'target'>) => Promise<void>;
};

/**
 * The one place that counts codes and assertions, right and wrong, by the counter of the user's passwords. Those of one user are looked at one
 * after the other, and none while the user is locked. A right one ends the count.
 * @param check looks at one, and takes it
 */
export function proveFactor(
  { store, clock, config }: FactorParts,
  owner: FactorOwner,
  check: (proving: Proving) => Promise<boolean>,
): Promise<boolean> {
  return transact(store.db, async (tx) => {
    const now = new Date(clock.nowMs());
    const self = { id: owner.id, name: owner.username };
    const record: Proving['record'] = async (event) =>
      recordEvent(tx, { id: await requireTenant(tx, owner.tenant), name: owner.tenant }, now, {
        ...event,
        actor: self,
        target: self,
      });
    if (await holdCounter(tx, owner.id, now)) return false;
    if (await check({ tx, now, record })) {
      await unlock(tx, owner.id);
      return true;
    }
    const rule = { after: config['principal.lock_after'], forMs: config['principal.lock_time'] };
    if (await countFailure(tx, owner.id, now, rule)) await record({ type: 'lock_user' });
    return false;
  });
}

/** Whether a code is the one of the user's authenticator now; a code is taken once. */
export const proveCode = (parts: FactorParts, owner: FactorOwner, code: string): Promise<boolean> =>
  proveFactor(parts, owner, async ({ tx, now }) => {
    const authenticator = await findAuthenticator(tx, owner.id);
    if (authenticator === undefined) return false;
    const secret = parts.sealing.open(authenticator.sealed, authenticatorOwner(owner.id));
    const step = stepOfCode(secret, code, now.getTime(), authenticator.usedStep);
    return step !== undefined && takeStep(tx, owner.id, step, now);
  });

/** Whether a code is one of the user's recovery codes; each is taken once. */
export const proveRecoveryCode = (parts: FactorParts, owner: FactorOwner, code: string): Promise<boolean> =>
  proveFactor(parts, owner, async ({ tx, now, record }) => {
    const digest = digestOfRecoveryCode(code);
    if (digest === undefined || !(await takeRecoveryCode(tx, owner.id, digest, now))) return false;
    await record({ type: 'use_recovery_code' });
    return true;
  });
