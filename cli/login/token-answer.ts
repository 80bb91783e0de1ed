import { SkeinError } from '#shared/error.ts';
import type { Login } from './login-file.ts';

/** Longest life of a token that can be a date. */
const LIFE_S_MAX = 1e9;

/** The tokens of an answer of the token endpoint, for the file. @throws UNAUTHENTICATED when it refuses, or is none */
export function tokensOf(
  { status, body }: { readonly status: number; readonly body: Readonly<Record<string, unknown>> },
  nowMs: number,
): Pick<Login, 'access_token' | 'expires_at' | 'refresh_token'> {
  const { access_token: access, refresh_token: refresh, expires_in: seconds } = body;
  const lifeS = Number(seconds);
  if (status === 200 && typeof access === 'string' && typeof refresh === 'string' && Math.abs(lifeS) < LIFE_S_MAX) {
    const expiresAt = new Date(nowMs + lifeS * 1_000);
    return { access_token: access, refresh_token: refresh, expires_at: expiresAt.toISOString() };
  }
  const why = typeof body['error_description'] === 'string' ? body['error_description'] : `HTTP status ${status}`;
  const code = status >= 500 || status === 429 ? 'CATALOG_UNAVAILABLE' : 'UNAUTHENTICATED';
  throw new SkeinError(code, why);
}
