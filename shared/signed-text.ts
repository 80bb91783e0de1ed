import { createHmac } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { sameText, type Keyring } from './keyring.ts';

/**
 * Texts that a service of the cluster has signed: `key id.base64url(text).base64url(HMAC-SHA256)` under the secret of the cluster that the
 * key id names. A text stays valid while that secret is accepted, even after another one has become current.
 */

/** What a text is signed for; one that is signed for something else is not valid. */
export type SignedFor = 'ticket' | 'stage url';

export function signText(text: string, purpose: SignedFor, { current }: Keyring): string {
  const body = Buffer.from(text).toString('base64url');
  return `${keyId(current)}.${body}.${mac(body, purpose, current)}`;
}

/** The text, or why it is not valid. */
export function verifyText(
  signed: string,
  purpose: SignedFor,
  { accepted }: Keyring,
): { readonly text: string } | { readonly problem: string } {
  const [id = '', body = '', signature = ''] = signed.split('.', 3);
  const secret = accepted.find((one) => keyId(one) === id);
  if (secret === undefined) return { problem: 'is signed with an unknown key' };
  if (!sameText(signature, mac(body, purpose, secret))) return { problem: 'is not valid' };
  return { text: Buffer.from(body, 'base64url').toString() };
}

/** Returns the id of a secret: 48 bits distinguish the few secrets of a keyring, and reveal no more of them than a signature does. */
const keyId = (secret: string): string => keyIds.memo(secret);

/** The ids of the secrets in use: to compute one takes as long as to sign a ticket. */
const keyIds = new LRUCache<string, string>({
  max: 16,
  memoMethod: (secret) => createHmac('sha256', secret).update('ticket key id').digest('base64url').slice(0, 8),
});

/** A body has no colon, so that no text is signed for two purposes. */
const mac = (body: string, purpose: SignedFor, secret: string): string =>
  createHmac('sha256', secret)
    .update(purpose === 'ticket' ? body : `${purpose}:${body}`)
    .digest('base64url');
