import { randomBytes } from 'node:crypto';
import { sha256 } from '../token/secret.ts';

/** Codes for who has lost his factor: 80 bits each, which cannot be guessed, so that a fast hash is enough. */

const CODES = 10;
const BYTES = 10;
/** Without 0, 1, 8 and 9 nothing is mistaken for a letter (RFC 4648, base 32). */
const LETTERS = 'abcdefghijklmnopqrstuvwxyz234567';

/** A code as people read it: four groups of four. */
const newRecoveryCode = (): string => {
  let bits = BigInt(`0x${randomBytes(BYTES).toString('hex')}`);
  let text = '';
  for (let i = 0; i < (BYTES * 8) / 5; i += 1) {
    text += LETTERS.charAt(Number(bits & 31n));
    bits >>= 5n;
  }
  return text.replaceAll(/(.{4})(?=.)/g, '$1-');
};

export const newRecoveryCodes = (): readonly string[] => Array.from({ length: CODES }, newRecoveryCode);

/** Digest of a code, however it was typed; undefined: it is none. */
export function digestOfRecoveryCode(shown: string): Buffer | undefined {
  const text = shown.toLowerCase().replaceAll(/[\s-]/g, '');
  return /^[a-z2-7]{16}$/.test(text) ? sha256(text) : undefined;
}
