import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Keyring } from './keyring.ts';
import { keyId, type Verified } from './signed-text.ts';

/**
 * Texts that only services of this cluster can read and make: `key id.base64url(nonce, AES-256-GCM(text), tag)` under a key that is derived
 * from the secret of the cluster which the key id names. A text stays valid while that secret is accepted, even after another one has
 * become current.
 */

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = 'aes-256-gcm';

/** @param boundTo is not part of the text, but whoever opens it must give the same */
export function sealText(text: string, { current }: Keyring, boundTo = ''): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, keyOf(current), nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(boundTo));
  const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return `${keyId(current)}.${sealed.toString('base64url')}`;
}

/** The text, or why it is not valid. */
export function openText(sealed: string, { accepted }: Keyring, boundTo = ''): Verified {
  const [id = '', body = '', more] = sealed.split('.', 3);
  const secret = accepted.find((one) => keyId(one) === id);
  if (secret === undefined) return { problem: 'is signed with an unknown key' };
  const bytes = Buffer.from(body, 'base64url');
  // One text has one spelling: Node skips what is no base64url.
  const isWhole = more === undefined && bytes.length > NONCE_BYTES + TAG_BYTES && bytes.toString('base64url') === body;
  if (!isWhole) return { problem: 'is not valid' };
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv(CIPHER, keyOf(secret), nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(boundTo));
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
    return { text: Buffer.concat([text, decipher.final()]).toString() };
  } catch {
    return { problem: 'is not valid' };
  }
}

/** Whether the current secret has sealed a text. */
export const isSealedBy = (sealed: string, { current }: Keyring): boolean => sealed.startsWith(`${keyId(current)}.`);

/** The key of a secret. It is not the secret itself, which signs other texts. */
const keyOf = (secret: string): Buffer => keys.memo(secret);

const keys = new LRUCache<string, Buffer>({
  max: 16,
  memoMethod: (secret) => createHmac('sha256', secret).update('key of sealed texts').digest(),
});
