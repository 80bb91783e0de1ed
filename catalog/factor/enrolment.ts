import { sha256 } from '../token/secret.ts';
import {
  authenticatorOwner,
  findEnrolment,
  putAuthenticator,
  putEnrolment,
  putRecoveryCodes,
  takeEnrolment,
} from '../store/postgres/factor-store.ts';
import type { Tx } from '../store/postgres/tables.ts';
import { transact } from '../store/postgres/transact.ts';
import { proveFactor, type FactorOwner, type FactorParts } from './prove-factor.ts';
import { newRecoveryCodes } from './recovery-codes.ts';
import { newTotpSecret, otpauthUri, stepOfCode } from './totp.ts';

/** Time in which a new authenticator must show a code. */
const ENROLMENT_MS = 600_000;

/** A secret that an authenticator app is given; nothing counts until it has shown a code. */
export type NewAuthenticator = { readonly secret: string; readonly uri: string };

const shownSecret = (secret: string, owner: FactorOwner): NewAuthenticator => ({
  secret,
  uri: otpauthUri(secret, owner),
});

/** Begins an enrolment; the one before ends. @param signIn the browser that may see it again; null: a statement of SQL */
export async function beginEnrolment(
  { store, clock, sealing }: FactorParts,
  owner: FactorOwner,
  signIn: string | null,
  tx?: Tx,
): Promise<NewAuthenticator> {
  const secret = newTotpSecret();
  const sealed = sealing.seal(secret, authenticatorOwner(owner.id));
  const enrolment = { sealed, signIn, endsAt: new Date(clock.nowMs() + ENROLMENT_MS) };
  const put = (by: Tx): Promise<void> => putEnrolment(by, owner.id, enrolment);
  await (tx === undefined ? transact(store.db, put) : put(tx));
  return shownSecret(secret, owner);
}

/** The enrolment that this browser has begun, or a new one. */
export async function enrolmentOf(parts: FactorParts, owner: FactorOwner, signIn: string): Promise<NewAuthenticator> {
  const { store, clock, sealing } = parts;
  const sealed = await findEnrolment(store.db, owner.id, signIn, new Date(clock.nowMs()));
  if (sealed === undefined) return beginEnrolment(parts, owner, signIn);
  return shownSecret(sealing.open(sealed, authenticatorOwner(owner.id)), owner);
}

/** An enrolment whose app has shown the right code. */
export type ShownEnrolment = { readonly sealed: string; readonly step: number };

/** Looks at the first code of a new authenticator, which counts like every code. @returns undefined when it is wrong, or the time is over */
export async function proveEnrolment(
  parts: FactorParts,
  owner: FactorOwner,
  signIn: string | null,
  code: string,
): Promise<ShownEnrolment | undefined> {
  let shown: ShownEnrolment | undefined;
  await proveFactor(parts, owner, async ({ tx, now }) => {
    const sealed = await findEnrolment(tx, owner.id, signIn, now);
    if (sealed === undefined) return false;
    const step = stepOfCode(parts.sealing.open(sealed, authenticatorOwner(owner.id)), code, now.getTime());
    if (step !== undefined) shown = { sealed, step };
    return step !== undefined;
  });
  return shown;
}

/** Switches the authenticator on, in the place of the one before; the recovery codes before end. @returns false when another has done it */
export async function switchOn(
  tx: Tx,
  { id }: Pick<FactorOwner, 'id'>,
  { sealed, step }: ShownEnrolment,
  now: Date,
): Promise<boolean> {
  if (!(await takeEnrolment(tx, id, sealed))) return false;
  await putAuthenticator(tx, id, { sealed, usedStep: step, now });
  await putRecoveryCodes(tx, id, []);
  return true;
}

/** Makes ten new recovery codes, which are shown once; those before end. */
export async function renewRecoveryCodes(tx: Tx, { id }: Pick<FactorOwner, 'id'>): Promise<readonly string[]> {
  const codes = newRecoveryCodes();
  await putRecoveryCodes(
    tx,
    id,
    codes.map((code) => sha256(code.replaceAll('-', ''))),
  );
  return codes;
}
