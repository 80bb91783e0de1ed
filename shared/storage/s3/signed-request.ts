import { Hash, createHash, createHmac, type BinaryLike } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';
import type { S3Credential } from '#shared/storage/credential.ts';
import { sendRequest, withQuery, type StoreAnswer, type StoreMethod } from '#shared/storage/object/send-request.ts';

/** One HTTP request to an AWS service or one that imitates it, signed with version 4, without retries. */

export type AwsKey = Pick<S3Credential, 'accessKeyId' | 'secretAccessKey' | 'sessionToken' | 'region'>;

export type AwsRequest = {
  readonly service: 's3' | 'sts';
  readonly method: StoreMethod;
  /** `http://host:port` or `https://host`. */
  readonly endpoint: string;
  /** Percent-encoded: the signature covers these bytes. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Headers that the signature does not cover: to see whether a store obeys them. */
  readonly unsigned?: Readonly<Record<string, string>>;
  /** Largest body of an answer. */
  readonly answerBytesMax: number;
  /** Ends the request; its reason is thrown. */
  readonly signal?: AbortSignal | undefined;
};

/** The hash that the signer asks for. */
class Sha256 {
  readonly #hash: Hash;
  constructor(secret?: unknown) {
    // The signer passes a secret for HMAC.
    this.#hash = (secret === undefined ? createHash('sha256') : createHmac('sha256', secret as BinaryLike)) as Hash;
  }
  update(data: BinaryLike): void {
    this.#hash.update(data);
  }
  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest());
  }
  reset(): void {
    throw new Error('a hash is used once');
  }
}

/** @throws the errors of the connection, `TimeoutError`, `AnswerTooLarge` */
export async function sendSigned(key: AwsKey, request: AwsRequest): Promise<StoreAnswer> {
  const { method, path, query = {}, body } = request;
  const url = new URL(request.endpoint);
  const unsigned = {
    method,
    protocol: url.protocol,
    hostname: url.hostname,
    path,
    query: { ...query },
    headers: {
      host: url.host,
      ...request.headers,
      ...(body === undefined ? {} : { 'content-length': String(body.length) }),
    },
    ...(body === undefined ? {} : { body }),
  };
  const { headers } = await signer(key, request.service).sign(unsigned);
  return sendRequest({
    url,
    method,
    path: withQuery(path, query),
    headers: { ...headers, ...request.unsigned },
    body,
    bytesMax: request.answerBytesMax,
    signal: request.signal,
  });
}

/** The path is not escaped a second time: the signature of S3 covers it as it is sent, that of STS covers `/`. */
export const signer = (
  { accessKeyId, secretAccessKey, sessionToken, region }: AwsKey,
  service: AwsRequest['service'],
): SignatureV4 =>
  new SignatureV4({
    service,
    region,
    uriEscapePath: false,
    applyChecksum: true,
    sha256: Sha256,
    credentials: { accessKeyId, secretAccessKey, ...(sessionToken === null ? {} : { sessionToken }) },
  });
