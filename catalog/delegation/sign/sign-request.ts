import { createHash } from 'node:crypto';
import type { S3Credential } from '#shared/storage/credential.ts';
import { escapeUri } from '#shared/storage/object/send-request.ts';
import { signer } from '#shared/storage/s3/signed-request.ts';
import type { StoreRequest } from './check-request.ts';
import { printStoreUri } from './store-uri.ts';

/** Signatures of version 4 over requests that clients send themselves. */

const HASH = 'x-amz-content-sha256';
const UNSIGNED = 'UNSIGNED-PAYLOAD';
/** Headers that the signer makes, and those of a connection, which proxies change. */
const NEVER =
  /^(?:authorization|date|host|x-amz-date|x-amz-security-token|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect|user-agent|x-amzn-trace-id|amz-sdk-.*|accept.*|cache-control|sec-.*|from|referer|pragma|max-forwards)$/;
/** Only these are signed in a request that reads: clients use its signature again for other ranges of the object. */
const OF_READS = /^(?:x-amz-.*|content-md5)$/;

/**
 * Signs a request. Returns the headers that are to be added: none that the client sends already with the same value, because some clients
 * add those of the answer to theirs.
 */
export async function signRequest(request: StoreRequest, key: S3Credential): Promise<Readonly<Record<string, string>>> {
  const sent = signable(request);
  const hash = payloadHash(request);
  const unsigned = {
    ...plainRequest(request),
    headers: { ...sent, host: request.uri.host, [HASH]: hash },
  };
  const { headers } = await signer(key, 's3').sign(unsigned);
  return Object.fromEntries(
    Object.entries(headers).filter(([name, value]) => name !== 'host' && request.headers.get(name) !== value),
  );
}

/** A signature within the address: whoever has that may send the request until it ends, with these headers and no others that say something. */
export async function presignRequest(
  request: StoreRequest,
  key: S3Credential,
  lifeSeconds: number,
): Promise<{ readonly uri: string; readonly headers: Readonly<Record<string, string>> }> {
  const headers = signable(request);
  const { query = {} } = await signer(key, 's3').presign(
    // Only our own hash goes into the address; the client sends its headers.
    {
      ...plainRequest(request),
      headers: {
        ...headers,
        host: request.uri.host,
        ...(headers[HASH] === undefined ? { 'X-Amz-Content-Sha256': UNSIGNED } : {}),
      },
    },
    { expiresIn: lifeSeconds, unhoistableHeaders: new Set(Object.keys(headers)) },
  );
  const added = Object.entries(query).filter(([name]) => !request.uri.query.has(name));
  const text = added.map(([name, value]) => `${escapeUri(name)}=${escapeUri(String(value))}`).join('&');
  const uri = printStoreUri(request.uri);
  return {
    uri: `${uri}${uri.includes('?') ? '&' : '?'}${text}`,
    headers: Object.fromEntries([...request.headers].filter(([name]) => !NEVER.test(name))),
  };
}

const plainRequest = ({ method, uri }: StoreRequest) => ({
  method,
  protocol: `${uri.protocol}:`,
  hostname: uri.host,
  path: uri.canonicalPath,
  query: Object.fromEntries(uri.query),
});

const signable = ({ method, headers }: StoreRequest): Record<string, string> => {
  const isRead = method === 'GET' || method === 'HEAD';
  return Object.fromEntries([...headers].filter(([name]) => !NEVER.test(name) && (!isRead || OF_READS.test(name))));
};

/** The hash of a body that is known is bound to it; else what the client says of its body, or nothing. */
function payloadHash({ headers, body }: StoreRequest): string {
  if (body !== undefined) return createHash('sha256').update(body).digest('hex');
  const own = headers.get(HASH);
  if (own !== undefined) return own;
  return headers.has('x-amz-trailer') ? 'STREAMING-UNSIGNED-PAYLOAD-TRAILER' : UNSIGNED;
}
