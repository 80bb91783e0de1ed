import { holdsControl } from '#shared/plain-text.ts';
import { invalidClient, OAuthError } from './oauth-error.ts';
import type { TokenForm } from './token-form.ts';

/** The credentials that a token request presents. */
export type Credentials =
  | { readonly kind: 'none' }
  | { readonly kind: 'bearer'; readonly token: string }
  /** Without a client id the secret alone identifies the client. */
  | { readonly kind: 'secret'; readonly clientId: string | undefined; readonly secret: string };

/** The credentials of a request, which are read when a grant asks for them; and the address and the program that it comes from. */
export type Shown = { readonly credentials: () => Credentials; readonly address: string; readonly agent: string };

/**
 * Reads the client's secret from the form or from HTTP Basic, else a bearer token. Java's client sends the bearer token of its parent
 * session along with a secret in the form: then the secret counts.
 * @throws OAuthError invalid_request for a secret in both places, invalid_client for a header that is none of these
 */
export function readCredentials(authorization: string | undefined, form: TokenForm): Credentials {
  const { client_id: clientId, client_secret: secret } = form;
  const [, scheme = '', value = ''] = /^(\S+) +(\S+) *$/.exec(authorization ?? '') ?? [];
  if (scheme.toLowerCase() === 'basic') {
    if (secret !== undefined) throw new OAuthError('invalid_request', 'the client authenticates in two ways');
    const basic = basicCredentials(value);
    if (clientId !== undefined && clientId !== (basic.clientId ?? clientId)) {
      throw new OAuthError('invalid_request', 'the form names another client than the Authorization header');
    }
    return { ...basic, clientId: basic.clientId ?? clientId };
  }
  if (secret !== undefined) return { kind: 'secret', clientId, secret };
  if (scheme.toLowerCase() === 'bearer') return { kind: 'bearer', token: value };
  if ((authorization ?? '').trim() !== '') throw invalidClient('the Authorization header is neither Basic nor Bearer');
  return { kind: 'none' };
}

/** RFC 6749, 2.3.1: both parts are escaped as in a form. Java's client sends a bare secret without the colon. */
function basicCredentials(value: string): Extract<Credentials, { kind: 'secret' }> {
  const text = /^[A-Za-z0-9+/_-]+={0,2}$/.test(value) ? Buffer.from(value, 'base64').toString('utf8') : '';
  const at = text.indexOf(':');
  const secret = unescape(text.slice(at + 1));
  const clientId = at <= 0 ? undefined : unescape(text.slice(0, at));
  if (secret === '') throw invalidClient('the Authorization header holds no secret');
  if (holdsControl(`${clientId ?? ''}${secret}`))
    throw invalidClient('the Authorization header holds a control character');
  return { kind: 'secret', clientId, secret };
}

function unescape(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
