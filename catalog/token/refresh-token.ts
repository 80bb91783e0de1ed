import { randomUUID } from 'node:crypto';
import { isUuid } from '#shared/id.ts';
import { newSecret, sha256 } from './secret.ts';

/**
 * A refresh token names its family and holds a secret. Only the newest secret of a family is stored, so any other one was used before, by
 * the client or by a thief; nobody can name a family without having seen one of its tokens.
 */
export type RefreshToken = { readonly family: string; readonly sha256: Buffer };

const PREFIX = 'skein_rt_';
const FORM = /^skein_rt_([0-9a-f-]{36})\.([\w-]{43})$/;

/** Creates a refresh token: the text for the client, and the digest to store. */
export function newRefreshToken(family: string = randomUUID()): RefreshToken & { readonly text: string } {
  const secret = newSecret('');
  return { text: `${PREFIX}${family}.${secret}`, family, sha256: sha256(secret) };
}

/** Parses a refresh token; undefined for a text that cannot be one of ours. */
export function parseRefreshToken(text: string): RefreshToken | undefined {
  const [, family = '', secret = ''] = FORM.exec(text) ?? [];
  return isUuid(family) ? { family, sha256: sha256(secret) } : undefined;
}
