import { holdsControl } from '#shared/plain-text.ts';
import { OAuthError } from './oauth-error.ts';

/** The parameters of a token request, each once and not empty. */
export type TokenForm = Readonly<Record<string, string | undefined>>;

/** Parameters that may be given several times (RFC 8693, 2.1). They name services; there is only one, so they are ignored. */
const UNREAD = new Set(['audience', 'resource']);
/**
 * Reads `application/x-www-form-urlencoded` strictly. A parameter without a value counts as absent (RFC 6749, 3.2); a repeated parameter, a
 * broken escape or a control character is an error.
 * @throws OAuthError invalid_request
 */
export function parseTokenForm(body: Buffer, contentType: string | undefined, encoding: string | undefined): TokenForm {
  const type = (contentType ?? '').split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/x-www-form-urlencoded') {
    throw new OAuthError('invalid_request', 'the body must be application/x-www-form-urlencoded');
  }
  if (encoding !== undefined && encoding !== '' && encoding !== 'identity') {
    throw new OAuthError('invalid_request', 'the body must not be compressed');
  }
  const seen = new Set<string>();
  const form: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const pair of body.toString('latin1').split('&')) {
    if (pair === '') continue;
    const at = pair.indexOf('=');
    const name = decode(at === -1 ? pair : pair.slice(0, at));
    const value = decode(at === -1 ? '' : pair.slice(at + 1));
    if (UNREAD.has(name)) continue;
    if (seen.has(name)) throw new OAuthError('invalid_request', 'a parameter is given twice');
    seen.add(name);
    if (value !== '') form[name] = value;
  }
  return form;
}

function decode(text: string): string {
  let decoded: string;
  try {
    decoded = decodeURIComponent(text.replaceAll('+', ' '));
  } catch (cause) {
    throw new OAuthError('invalid_request', 'the body is not a form: an escape is broken', { cause });
  }
  if (holdsControl(decoded)) throw new OAuthError('invalid_request', 'the body holds a control character');
  return decoded;
}

/** @throws OAuthError invalid_request */
export function requiredField(form: TokenForm, name: string): string {
  const value = form[name];
  if (value === undefined) throw new OAuthError('invalid_request', `${name} is missing`);
  return value;
}
