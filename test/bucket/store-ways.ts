import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { SignatureV4 } from '@smithy/signature-v4';
import { createHash, createHmac, type BinaryLike } from 'node:crypto';
import type { S3Credential } from '#shared/storage/credential.ts';
import type { TestCatalog } from '#test/support/catalog.ts';

/** A request to the store as a client writes it: its path and query are sent byte for byte. */
export type Sent = {
  readonly method: string;
  /** Path and query, escaped. */
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
};

export type Outcome = { readonly status: number; readonly body: string };

/** A way to have a request sent with the rights of a token; `after` changes it when it is signed. */
export type StoreWay = (token: string, sent: Sent, after?: (signed: Sent) => Sent) => Promise<Outcome>;

/** Sends a request as it is. */
export const sendRaw = (endpoint: string, { method, target, headers = {}, body }: Sent): Promise<Outcome> =>
  new Promise((resolve, reject) => {
    const { hostname, port, protocol } = new URL(endpoint);
    const make = protocol === 'https:' ? httpsRequest : httpRequest;
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const outgoing = make({ method, hostname, port, path: target, headers: { ...headers, ...length } });
    outgoing.once('error', reject);
    outgoing.once('response', (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.once('end', () => resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(chunks).toString() }));
    });
    outgoing.end(body);
  });

class Sha256 {
  readonly #hash;
  constructor(secret?: unknown) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', secret as BinaryLike);
  }
  update(data: BinaryLike): void {
    this.#hash.update(data);
  }
  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest());
  }
  reset(): void {}
}

/** The headers of a request with a signature by a key. */
export async function signWith(
  key: S3Credential,
  endpoint: string,
  { method, target, headers = {}, body }: Sent,
  signingDate = new Date(),
): Promise<Readonly<Record<string, string>>> {
  const { host } = new URL(endpoint);
  const [path = '', query = ''] = target.split('?');
  const signer = new SignatureV4({
    service: 's3',
    region: key.region,
    uriEscapePath: false,
    sha256: Sha256,
    credentials: { ...key, sessionToken: key.sessionToken ?? '' },
  });
  const values: Record<string, string[]> = {};
  for (const [name, value] of new URLSearchParams(query)) (values[name] ??= []).push(value);
  const signed = await signer.sign(
    {
      method,
      protocol: 'http:',
      hostname: host,
      path,
      query: Object.fromEntries(
        Object.entries(values).map(([name, all]) => [name, all.length === 1 ? (all[0] ?? '') : all]),
      ),
      headers: { ...headers, host },
      ...(body === undefined ? {} : { body }),
    },
    { signingDate },
  );
  return signed.headers;
}

/** The four ways to a table's files: a vended key, both endpoints that sign, and presigned addresses. */
export function storeWays(
  catalog: TestCatalog,
  endpoint: string,
  table: string,
): Readonly<Record<'keys' | 'signer' | 'older signer' | 'presigned', StoreWay>> {
  const asIs = (signed: Sent): Sent => signed;
  const refused = (status: number, body: object): Outcome => ({ status, body: JSON.stringify(body) });
  const signer =
    (path: string): StoreWay =>
    async (token, sent, after = asIs) => {
      const { method, target, headers = {}, body } = sent;
      const lists = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));
      const answer = await catalog.rest('POST', path, {
        token,
        body: {
          region: 'us-east-1',
          method,
          uri: endpoint + target,
          headers: lists,
          ...(target.includes('?delete') ? { body } : {}),
        },
      });
      if (answer.status !== 200) return refused(answer.status, answer.body);
      const added = answer.body['headers'] as unknown as Record<string, readonly string[]>;
      const all = {
        ...headers,
        ...Object.fromEntries(Object.entries(added).map(([name, values]) => [name, values.join(',')])),
      };
      return sendRaw(endpoint, after({ ...sent, headers: all }));
    };
  return {
    keys: async (token, sent, after = asIs) => {
      const answer = await catalog.rest('GET', `${table}/credentials`, { token });
      if (answer.status !== 200) return refused(answer.status, answer.body);
      const [credential] = answer.body['storage-credentials'] as unknown as { config: Record<string, string> }[];
      const { config = {} } = credential ?? {};
      const key: S3Credential = {
        kind: 's3',
        accessKeyId: config['s3.access-key-id'] ?? '',
        secretAccessKey: config['s3.secret-access-key'] ?? '',
        sessionToken: config['s3.session-token'] ?? '',
        expiresAtMs: null,
        region: 'us-east-1',
        endpoint,
        pathStyle: true,
      };
      return sendRaw(endpoint, after({ ...sent, headers: await signWith(key, endpoint, sent) }));
    },
    signer: signer(`${table}/sign`),
    'older signer': signer('/v1/aws/s3/sign'),
    presigned: async (token, sent, after = asIs) => {
      const { method, target, headers = {} } = sent;
      const requests = [{ method, uri: endpoint + target, headers }];
      const answer = await catalog.rest('POST', `${table}/sign`, { token, body: { requests } });
      if (answer.status !== 200) return refused(answer.status, answer.body);
      const [one] = answer.body['presigned'] as unknown as { uri: string; headers: Record<string, string> }[];
      return sendRaw(
        endpoint,
        after({ ...sent, target: (one?.uri ?? '').slice(endpoint.length), headers: one?.headers ?? {} }),
      );
    },
  };
}
