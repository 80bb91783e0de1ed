import { requestedScopes } from '../token/grant-scopes.ts';
import { signInClient, type SignInClient } from '../sign-in/sign-in-client.ts';

/** A request of a client for a code. */
export type AuthorizeRequest = {
  readonly kind: 'request';
  readonly client: SignInClient;
  /** SHA-256 of the verifier, as base64url. */
  readonly challenge: string;
  readonly state: string | undefined;
  readonly scope: string | undefined;
  readonly prompt: 'login' | 'none' | undefined;
  readonly maxAgeMs: number | undefined;
  /** The tenant that the client names, for the form. */
  readonly tenant: string | undefined;
  /** The identity provider to which the browser goes straight. */
  readonly provider: string | undefined;
  /** The request again, without `prompt` and `max_age`, which hold once. */
  readonly query: string;
};

export type AuthorizeRefusal =
  /** Nobody is known to whom the browser could be sent. */
  | { readonly kind: 'no client'; readonly why: string }
  | {
      readonly kind: 'refusal';
      readonly client: SignInClient;
      readonly state: string | undefined;
      readonly error: string;
      readonly why: string;
    };

/** Longest request, which a cookie keeps while its person signs in. */
const QUERY_LENGTH_MAX = 2_000;
const CHALLENGE = /^[\w-]{43}$/;
const NAMES = [
  'response_type',
  'client_id',
  'redirect_uri',
  'code_challenge',
  'code_challenge_method',
  'scope',
  'state',
  'prompt',
  'max_age',
  'tenant',
  'provider',
] as const;

/** Reads the parameters of `/oauth/authorize`, of which each may come once (RFC 6749, 3.1). */
export function readAuthorizeRequest(
  parameters: unknown,
  redirects: readonly string[],
): AuthorizeRequest | AuthorizeRefusal {
  const given = (typeof parameters === 'object' ? parameters : {}) as Readonly<Record<string, unknown>>;
  const text = (name: (typeof NAMES)[number]): string | undefined => {
    const value = Object.hasOwn(given ?? {}, name) ? given[name] : undefined;
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const client = signInClient(redirects, text('client_id') ?? '', text('redirect_uri') ?? '');
  if (client === undefined) {
    return { kind: 'no client', why: 'The client is not known, or its redirect address is not one of its own.' };
  }
  const state = text('state');
  const kept = NAMES.flatMap((name): [string, string][] => {
    const value = name === 'prompt' || name === 'max_age' ? undefined : text(name);
    return value === undefined ? [] : [[name, value]];
  });
  const query = new URLSearchParams(kept).toString();
  if (query.length > QUERY_LENGTH_MAX) return { kind: 'no client', why: 'The request is too long.' };
  const refusal = (error: string, why: string): AuthorizeRefusal => ({ kind: 'refusal', client, state, error, why });
  if (NAMES.some((name) => Array.isArray(given[name]))) return refusal('invalid_request', 'a parameter is given twice');
  if (text('response_type') !== 'code') return refusal('unsupported_response_type', 'response_type must be code');
  const challenge = text('code_challenge');
  if (challenge === undefined || !CHALLENGE.test(challenge) || text('code_challenge_method') !== 'S256') {
    return refusal('invalid_request', 'code_challenge with the method S256 is needed');
  }
  if (requestedScopes(text('scope')) === 'unknown') return refusal('invalid_scope', 'scope names none of ours');
  const prompts = new Set((text('prompt') ?? '').split(' '));
  const maxAge = text('max_age');
  if (maxAge !== undefined && !/^\d{1,9}$/.test(maxAge)) return refusal('invalid_request', 'max_age is no number');
  if (prompts.has('none') && prompts.size > 1) return refusal('invalid_request', 'prompt=none stands alone');
  return {
    kind: 'request',
    client,
    challenge,
    state,
    scope: text('scope'),
    prompt: prompts.has('login') || maxAge === '0' ? 'login' : prompts.has('none') ? 'none' : undefined,
    maxAgeMs: maxAge === undefined ? undefined : Number(maxAge) * 1_000,
    tenant: text('tenant'),
    provider: text('provider'),
    query,
  };
}
