import { createPublicKey, type KeyObject } from 'node:crypto';
import { SkeinError } from '#shared/error.ts';
import type { KeyAlgorithm } from '#shared/principal/key-algorithm.ts';

/** Shortest modulus of an RSA key, in bits, and the longest, so that a signature is verified in a few milliseconds. */
const RSA_BITS_MIN = 2_048;
const RSA_BITS_MAX = 8_192;
const CURVES: Readonly<Record<string, KeyAlgorithm>> = { prime256v1: 'ES256', secp384r1: 'ES384' };
const PEM = /^\s*-----BEGIN (?:RSA )?PUBLIC KEY-----[A-Za-z0-9+/=\s]+-----END (?:RSA )?PUBLIC KEY-----\s*$/;

/**
 * Reads the PEM of a public key, and nothing else: no private key, no certificate. Without an algorithm it is RS256, or what the curve says.
 * @returns the key as PEM, spelled one way @throws INVALID_REQUEST, whose message has nothing of the key
 */
export function readPublicKey(
  pem: string,
  algorithm: KeyAlgorithm | undefined,
): { readonly pem: string; readonly algorithm: KeyAlgorithm } {
  if (/PRIVATE KEY/.test(pem)) {
    throw new SkeinError(
      'INVALID_REQUEST',
      'this is a private key, which belongs to nobody but its owner: make a new pair',
    );
  }
  if (!PEM.test(pem)) throw new SkeinError('INVALID_REQUEST', 'PUBLIC_KEY takes the PEM of a public key');
  const key = parse(pem);
  const found = algorithmOf(key, algorithm);
  return { pem: key.export({ type: 'spki', format: 'pem' }).toString(), algorithm: found };
}

function parse(pem: string): KeyObject {
  try {
    return createPublicKey(pem);
  } catch {
    // The text of the error may repeat a part of the key.
    throw new SkeinError('INVALID_REQUEST', 'PUBLIC_KEY is no public key that can be read');
  }
}

function algorithmOf(key: KeyObject, wanted: KeyAlgorithm | undefined): KeyAlgorithm {
  const { modulusLength = 0, namedCurve = '' } = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType === 'rsa') {
    if (modulusLength < RSA_BITS_MIN || modulusLength > RSA_BITS_MAX) {
      throw new SkeinError('INVALID_REQUEST', `an RSA key has ${RSA_BITS_MIN} to ${RSA_BITS_MAX} bits`);
    }
    if (wanted === 'ES256' || wanted === 'ES384')
      throw new SkeinError('INVALID_REQUEST', `an RSA key is not for ${wanted}`);
    return wanted ?? 'RS256';
  }
  const found = key.asymmetricKeyType === 'ec' ? CURVES[namedCurve] : undefined;
  if (found === undefined) throw new SkeinError('INVALID_REQUEST', 'a key is RSA, or on the curve P-256 or P-384');
  if (wanted !== undefined && wanted !== found) {
    throw new SkeinError('INVALID_REQUEST', `the curve of the key is for ${found}, not for ${wanted}`);
  }
  return found;
}
