import type { JWK } from 'jose';
import { SkeinError } from '#shared/error.ts';

/** Signatures that are taken of identity providers; all are of public keys. */
export const OUTSIDE_ALGORITHMS: readonly string[] = ['ES256', 'ES384', 'RS256', 'RS512', 'PS256', 'EdDSA'];

const KEYS_MAX = 100;
/** Characters of a modulus of 8,192 bits as base64url. */
const MODULUS_LENGTH_MAX = 1_366;

/** The facts of a discovery document (OpenID Connect Discovery 1.0) that are used. */
export type Discovery = {
  readonly issuer: string;
  readonly keysUrl: string;
  /** Absent where nobody signs in interactively, as at GitHub Actions or in Kubernetes. */
  readonly authorizeUrl?: string;
  readonly tokenUrl?: string;
  /** It answers `iss` beside each code (RFC 9207). */
  readonly answersIssuer: boolean;
  /** Its token endpoint takes the secret of a client in the form alone. */
  readonly takesSecretInForm: boolean;
};

export const discoveryUrl = (issuer: string): string => `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;

/** Reads a discovery document of the issuer. @throws INVALID_REQUEST that says in one line what is wrong */
export function readDiscovery(issuer: string, document: unknown): Discovery {
  const fail = (why: string): never => {
    throw new SkeinError('INVALID_REQUEST', `ISSUER: ${why}`);
  };
  if (typeof document !== 'object' || document === null) return fail('its discovery document is no JSON object');
  const facts = document as Readonly<Record<string, unknown>>;
  const own = facts['issuer'];
  if (own !== issuer) {
    const named = typeof own === 'string' ? own.slice(0, 200) : 'none';
    return fail(`its discovery document names another issuer: ${named}`);
  }
  const url = (name: string): string | undefined => {
    const value = facts[name];
    if (value === undefined || value === null) return undefined;
    if (typeof value === 'string' && isPlainHttps(value)) return value;
    return fail(`${name} of its discovery document is no address https://host/path`);
  };
  const keysUrl = url('jwks_uri') ?? fail('its discovery document has no jwks_uri');
  const algorithms = facts['id_token_signing_alg_values_supported'];
  if (Array.isArray(algorithms) && !algorithms.some((one) => OUTSIDE_ALGORITHMS.includes(one as string))) {
    return fail(`it signs with none of ${OUTSIDE_ALGORITHMS.join(', ')}`);
  }
  const methods = facts['token_endpoint_auth_methods_supported'];
  const [authorizeUrl, tokenUrl] = [url('authorization_endpoint'), url('token_endpoint')];
  return {
    issuer,
    keysUrl,
    ...(authorizeUrl === undefined ? {} : { authorizeUrl }),
    ...(tokenUrl === undefined ? {} : { tokenUrl }),
    answersIssuer: facts['authorization_response_iss_parameter_supported'] === true,
    takesSecretInForm: Array.isArray(methods) && !methods.includes('client_secret_basic'),
  };
}

const URL_LENGTH_MAX = 2_000;

/** Whether a text is an address of https with neither a user nor a part behind `#`. */
export function isPlainHttps(text: string): boolean {
  const url = text.length > URL_LENGTH_MAX ? null : URL.parse(text);
  return url?.protocol === 'https:' && url.username === '' && url.password === '' && url.hash === '';
}

/** The public keys for signatures of a key set; all else is left out. @returns undefined when it is none */
export function readKeys(document: unknown): readonly JWK[] | undefined {
  const { keys } = (document ?? {}) as { readonly keys?: unknown };
  if (!Array.isArray(keys)) return undefined;
  return keys.slice(0, KEYS_MAX).flatMap((key: unknown) => (isForSignatures(key) ? [key] : []));
}

function isForSignatures(key: unknown): key is JWK {
  if (typeof key !== 'object' || key === null) return false;
  const { kty, use, key_ops: operations, n, kid } = key as JWK;
  const isPublic = kty === 'RSA' || kty === 'EC' || kty === 'OKP';
  const isOurs = (use === undefined || use === 'sig') && (!Array.isArray(operations) || operations.includes('verify'));
  const isShort = n === undefined || (typeof n === 'string' && n.length <= MODULUS_LENGTH_MAX);
  return isPublic && isOurs && isShort && (kid === undefined || typeof kid === 'string');
}

const KEPT_MS_MIN = 300_000;
const KEPT_MS_MAX = 86_400_000;

/** Time for which keys are kept, by the Cache-Control of their answer: five minutes to a day. */
export function keptMs(cacheControl: string): number {
  const [, seconds] = /(?:^|[\s,])max-age="?(\d{1,9})/i.exec(cacheControl) ?? [];
  return Math.min(KEPT_MS_MAX, Math.max(KEPT_MS_MIN, Number(seconds ?? 0) * 1_000));
}
