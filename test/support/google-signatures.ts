import { createHash, createVerify } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** Google's side of signed addresses (V4 signatures by a service account), for the test server that stands before fake-gcs-server. */

type SignedRequest = {
  readonly method: string;
  /** Path and query, as they were sent. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly bodyBytes: number;
};
type Account = { readonly email: string; readonly publicKey: string };

const encode = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);

/** Whether a target claims to be signed. */
export const isSigned = (target: string): boolean => /[?&]X-Goog-Signature=/.test(target);

/** The reason for which a signed request is refused; undefined when it may go on. */
export function signatureProblem(
  { method, target, headers, bodyBytes }: SignedRequest,
  { email, publicKey }: Account,
  nowMs: number,
): string | undefined {
  const [path = '', query = ''] = target.split('?');
  const given = new URLSearchParams(query);
  const value = (name: string): string => given.get(name) ?? '';
  const pairs = [...given]
    .filter(([name]) => name !== 'X-Goog-Signature')
    .map(([name, text]) => `${encode(name)}=${encode(text)}`);
  const names = value('X-Goog-SignedHeaders').split(';');
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(value('X-Goog-Date')) ?? [];
  const beganMs = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  const scope = `${value('X-Goog-Date').slice(0, 8)}/auto/storage/goog4_request`;
  if (value('X-Goog-Algorithm') !== 'GOOG4-RSA-SHA256' || value('X-Goog-Credential') !== `${email}/${scope}`)
    return 'InvalidArgument';
  if (!names.includes('host')) return 'InvalidArgument';
  const seconds = Number(value('X-Goog-Expires'));
  if (!(seconds > 0 && seconds <= 604_800)) return 'InvalidArgument';
  if (nowMs > beganMs + seconds * 1_000 || nowMs < beganMs - 900_000) return 'ExpiredToken';
  // Headers of the store's own have to be signed.
  if (Object.keys(headers).some((name) => name.startsWith('x-goog-') && !names.includes(name)))
    return 'SignatureDoesNotMatch';
  const lines = names.map((name) => `${name}:${String(headers[name] ?? '').trim()}\n`).join('');
  const request = [method, path, pairs.toSorted().join('&'), lines, names.join(';'), 'UNSIGNED-PAYLOAD'].join('\n');
  const digest = createHash('sha256').update(request).digest('hex');
  const isRight = createVerify('RSA-SHA256')
    .update(['GOOG4-RSA-SHA256', value('X-Goog-Date'), scope, digest].join('\n'))
    .verify(publicKey, value('X-Goog-Signature'), 'hex');
  if (!isRight) return 'SignatureDoesNotMatch';
  const [least = '0', most = 'Infinity'] = String(headers['x-goog-content-length-range'] ?? '0,Infinity').split(',');
  if (bodyBytes < Number(least)) return 'EntityTooSmall';
  return bodyBytes > Number(most) ? 'EntityTooLarge' : undefined;
}

/** The headers that a signed address asks an answer to have. */
export function askedHeaders(target: string): Readonly<Record<string, string>> {
  const given = new URLSearchParams(target.split('?')[1] ?? '');
  const asked: Record<string, string> = {};
  for (const name of ['content-type', 'content-disposition']) {
    const value = given.get(`response-${name}`);
    if (value !== null) asked[name] = value;
  }
  return asked;
}
