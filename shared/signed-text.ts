import { createHmac } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { sameText, type Keyring } from './keyring.ts';

/**
 * Texts that a service of the cluster has signed: `key id.base64url(text).base64url(HMAC-SHA256)` under the secret of the cluster that the
 * key id names. A text stays valid while that secret is accepted, even after another one has become current.
 */

/** The text, or why it is not valid. */
export type Verified = { readonly text: string } | { readonly problem: string };

export function signText(text: string, { current }: Keyring): string {
  const body = Buffer.from(text).toString('base64url');
  return `${keyId(current)}.${body}.${mac(body, current)}`;
}

export function verifyText(signed: string, { accepted }: Keyring): Verified {
  const [id = '', body = '', signature = ''] = signed.split('.', 3);
  const secret = accepted.find((one) => keyId(one) === id);
  if (secret === undefined) return { problem: 'is signed with an unknown key' };
  if (!sameText(signature, mac(body, secret))) return { problem: 'is not valid' };
  return { text: Buffer.from(body, 'base64url').toString() };
}

/** Returns the id of a secret: 48 bits distinguish the few secrets of a keyring, and reveal no more of them than a signature does. */
export const keyId = (secret: string): string => keyIds.memo(secret);

/** The ids of the secrets in use: to compute one takes as long as to sign a ticket. */
const keyIds = new LRUCache<string, string>({
  max: 16,
  memoMethod: (secret) => createHmac('sha256', secret).update('ticket key id').digest('base64url').slice(0, 8),
});

const mac = (body: string, secret: string): string => createHmac('sha256', secret).update(body).digest('base64url');
