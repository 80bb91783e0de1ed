import { decodeJwt, decodeProtectedHeader, errors, importSPKI, jwtVerify, type JWTPayload } from 'jose';
import type { Clock } from '#shared/clock.ts';
import type { Config } from '#shared/config/config-schema.ts';
import { SkeinError } from '#shared/error.ts';
import type { KeyAlgorithm } from '#shared/principal/key-algorithm.ts';
import { TOKEN_AUDIENCE } from '#shared/authorization/token-claims.ts';
import type { Store } from '../store/postgres/connect.ts';
import type { TokenPrincipal } from '../store/postgres/principal-store.ts';
import { findKeyHolder, takeAssertion, type KeyHolder } from '../store/postgres/shown-credentials.ts';
import { transact } from '../store/postgres/transact.ts';
import { sha256 } from '../token/secret.ts';
import { NOBODYS_KEYS } from './nobodys-keys.ts';
import type { PasswordVerifier } from './verify-password.ts';

const LENGTH_MAX = 8_192;
/** Longest name of an account or key, and of a `jti`. */
const NAME_LENGTH_MAX = 600;
/** Longest time for which an assertion may be good, from now on. */
const LIFETIME_S_MAX = 3_600;
/** Clocks of machines differ by so much. */
const CLOCKS_DIFFER_S = 30;

/** The parts of an assertion by which its key is found. */
type Named = { readonly issuer: string; readonly keyId: string; readonly algorithm: string };

type Context = {
  readonly passwords: PasswordVerifier;
  readonly store: Store;
  readonly clock: Clock;
  readonly config: Pick<Config, 'catalog.url'>;
};

/**
 * Finds the service account that has signed an assertion: `iss` and `sub` name it, `kid` one of its keys, which allows its own algorithm and
 * no other; `aud` is this endpoint, `exp` at most an hour ahead, and `jti` comes once. Everything else is one refusal.
 * @throws WRONG_PASSWORD, TOO_MANY_SIGN_INS
 */
export async function signInByAssertion(context: Context, assertion: string, address: string): Promise<TokenPrincipal> {
  const { passwords } = context;
  const named = namesOf(assertion);
  const attempt = { tenant: '', user: named?.issuer ?? '', address };
  passwords.requireAllowed(attempt);
  const principal = named === undefined ? undefined : await signerOf(context, assertion, named);
  if (principal === undefined) {
    passwords.failed(attempt);
    throw new SkeinError('WRONG_PASSWORD', 'the assertion is not valid');
  }
  return principal;
}

/** @returns undefined when the assertion is not valid, or was used before */
async function signerOf(context: Context, assertion: string, names: Named): Promise<TokenPrincipal | undefined> {
  const { db } = context.store;
  const holder = await findKeyHolder(db, names.issuer, names.keyId);
  const claims = await verified(context, assertion, { names, holder });
  if (claims === undefined || holder?.principal.status !== 'ACTIVE') return undefined;
  const { id } = holder.principal;
  const use = { sha256: sha256(claims.jti), expiresAt: new Date((claims.exp + CLOCKS_DIFFER_S) * 1_000) };
  return (await transact(db, (tx) => takeAssertion(tx, id, use))) ? holder.principal : undefined;
}

/** The claims of an assertion whose signature and times hold; without a holder it is verified by nobody's key, which takes as long. */
async function verified(
  { config, clock }: Context,
  assertion: string,
  { names, holder }: { readonly names: Named; readonly holder: KeyHolder | undefined },
): Promise<{ readonly jti: string; readonly exp: number } | undefined> {
  const nobodys = Object.hasOwn(NOBODYS_KEYS, names.algorithm) ? (names.algorithm as KeyAlgorithm) : 'ES256';
  const { algorithm, publicKey } = holder ?? { algorithm: nobodys, publicKey: NOBODYS_KEYS[nobodys] };
  const nowMs = clock.nowMs();
  try {
    const { payload } = await jwtVerify(assertion, await importSPKI(publicKey, algorithm), {
      algorithms: [algorithm],
      issuer: names.issuer,
      subject: names.issuer,
      audience: audiences(config['catalog.url']),
      requiredClaims: ['exp', 'jti'],
      currentDate: new Date(nowMs),
      clockTolerance: CLOCKS_DIFFER_S,
    });
    return holder === undefined ? undefined : onceAndShort(payload, nowMs);
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined;
    throw error;
  }
}

const audiences = (catalogUrl: string): string[] => [
  TOKEN_AUDIENCE,
  `${catalogUrl.replace(/\/$/, '')}/v1/oauth/tokens`,
];

function onceAndShort({ jti, exp = 0 }: JWTPayload, nowMs: number): { jti: string; exp: number } | undefined {
  const isShort = exp <= nowMs / 1_000 + LIFETIME_S_MAX + CLOCKS_DIFFER_S;
  const isName = typeof jti === 'string' && jti !== '' && jti.length <= NAME_LENGTH_MAX;
  return isShort && isName ? { jti, exp } : undefined;
}

/** @returns undefined when they are not there, or no texts that can be names */
export function namesOf(assertion: string): Named | undefined {
  if (assertion.length > LENGTH_MAX) return undefined;
  try {
    const { kid, alg } = decodeProtectedHeader(assertion);
    const { iss } = decodeJwt(assertion);
    const isName = (text: unknown): text is string =>
      typeof text === 'string' && text !== '' && text.length <= NAME_LENGTH_MAX && !text.includes('\0');
    return isName(kid) && isName(iss) && isName(alg) ? { issuer: iss, keyId: kid, algorithm: alg } : undefined;
  } catch {
    return undefined;
  }
}
