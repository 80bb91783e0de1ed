import { createHash, createPrivateKey, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { escapeUri } from '#shared/storage/object/send-request.ts';
import type { ServiceAccount } from '#shared/storage/key-file.ts';
import { gcsAddress } from './gcs-client.ts';
import { gcsPlace, objectPath } from './gcs-object.ts';

/** Addresses of Google's store that hold the right to one request: signatures of version 4, by the key of a service account. */

type PresignedRequest = {
  readonly method: 'GET' | 'PUT';
  readonly location: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Whoever sends the request has to send them. In small letters. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Null = Google's. */
  readonly endpoint: string | null;
  readonly expiresAtMs: number;
};

const ALGORITHM = 'GOOG4-RSA-SHA256';
/** Longest time for which a signature of version 4 is good. */
const SECONDS_MAX = 7 * 86_400;

const signAsync = promisify(sign);

/** @param nowMs the time of the signature */
export async function presignGcs(
  { clientEmail, privateKey }: Pick<ServiceAccount, 'clientEmail' | 'privateKey'>,
  { method, location, query = {}, headers = {}, endpoint, expiresAtMs }: PresignedRequest,
  nowMs: number,
): Promise<string> {
  const { origin, host } = new URL(gcsAddress(endpoint));
  const path = objectPath(gcsPlace(location));
  // 20261128T170000Z
  const time = `${new Date(nowMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
  const scope = `${time.slice(0, 8)}/auto/storage/goog4_request`;
  const seconds = Math.ceil((expiresAtMs - Math.floor(nowMs / 1_000) * 1_000) / 1_000);
  const signedHeaders = Object.entries({ ...headers, host }).toSorted(byName);
  const names = signedHeaders.map(([name]) => name).join(';');
  const parameters = Object.entries({
    ...query,
    'X-Goog-Algorithm': ALGORITHM,
    'X-Goog-Credential': `${clientEmail}/${scope}`,
    'X-Goog-Date': time,
    'X-Goog-Expires': String(Math.min(SECONDS_MAX, Math.max(1, seconds))),
    'X-Goog-SignedHeaders': names,
  }).toSorted(byName);
  const text = parameters.map(([name, value]) => `${escapeUri(name)}=${escapeUri(value)}`).join('&');
  const lines = signedHeaders.map(([name, value]) => `${name}:${value}\n`).join('');
  const request = [method, path, text, lines, names, 'UNSIGNED-PAYLOAD'].join('\n');
  const digest = createHash('sha256').update(request).digest('hex');
  const signed = Buffer.from([ALGORITHM, time, scope, digest].join('\n'));
  const signature = await signAsync('RSA-SHA256', signed, createPrivateKey(privateKey));
  return `${origin}${path}?${text}&X-Goog-Signature=${signature.toString('hex')}`;
}

const byName = ([one]: readonly [string, string], [other]: readonly [string, string]): number => (one < other ? -1 : 1);
