import { generateSecret, generateURI, verifySync } from 'otplib';

/** Codes of authenticator apps (RFC 6238): 6 digits, a new one every 30 s. */

/** 160 bits, as long as the digest of the code. */
const SECRET_BYTES = 20;
const STEP_S = 30;
/** The code before and the one after are taken, too: clocks differ, and typing takes a while. */
const TOLERANCE_S = STEP_S;
const CODE = /^\d{6}$/;

export const newTotpSecret = (): string => generateSecret({ length: SECRET_BYTES });

/** The address that an app reads from a QR code. A colon would divide the name. */
export const otpauthUri = (
  secret: string,
  { username, tenant }: { readonly username: string; readonly tenant: string },
): string =>
  generateURI({
    issuer: `Skein ${tenant.replaceAll(':', ' ')}`,
    label: username.replaceAll(':', ' '),
    secret,
    digits: 6,
    period: STEP_S,
  });

/** The time step of a code that is right now and later than the last one that was taken; undefined: it is wrong. */
export function stepOfCode(secret: string, shown: string, nowMs: number, usedStep = 0): number | undefined {
  // Apps show the code in two parts.
  const token = shown.replaceAll(/[\s-]/g, '');
  if (!CODE.test(token)) return undefined;
  const epoch = Math.floor(nowMs / 1_000);
  const result = verifySync({ secret, token, epoch, epochTolerance: TOLERANCE_S, afterTimeStep: usedStep });
  return result.valid && 'timeStep' in result ? result.timeStep : undefined;
}
