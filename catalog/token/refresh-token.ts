import { randomUUID } from 'node:crypto';
import { isUuid } from '#shared/id.ts';
import { newSecret, sha256 } from './secret.ts';

/**
 * A refresh token names its family and holds a secret. Only the newest secret of a family is known, so any other that names it was used
 * before, by us or by a thief; no one who never saw one of its tokens can name a family.
 */
export type RefreshToken = { readonly family: string; readonly sha256: Buffer };

const PREFIX = 'skein_rt_';
const FORM = /^skein_rt_([0-9a-f-]{36})\.([\w-]{43})$/;

/** The text to give away, and what of it is kept. */
export function newRefreshToken(family: string = randomUUID()): RefreshToken & { readonly text: string } {
  const secret = newSecret('');
  return { text: `${PREFIX}${family}.${secret}`, family, sha256: sha256(secret) };
}

/** Undefined for what cannot be one of ours. */
export function parseRefreshToken(text: string): RefreshToken | undefined {
  const [, family = '', secret = ''] = FORM.exec(text) ?? [];
  return isUuid(family) ? { family, sha256: sha256(secret) } : undefined;
}
