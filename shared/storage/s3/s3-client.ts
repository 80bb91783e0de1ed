import type { S3Credential } from '#shared/storage/credential.ts';
import { escapeUri } from '#shared/storage/object/send-request.ts';
import { StoreClient, type StoreProtocol } from '#shared/storage/object/store-client.ts';
import type { StorageUse } from '#shared/storage/storage-use.ts';
import { s3Error } from './s3-error.ts';
import { sendSigned, type AwsRequest } from './signed-request.ts';

/** A request for an object, or for the bucket when the key is empty. */
export type ObjectRequest = Pick<AwsRequest, 'method' | 'query' | 'headers' | 'body' | 'unsigned'> & {
  readonly bucket: string;
  /** As it is; not escaped. */
  readonly key: string;
  /** Largest body of an answer; default: that of a list or an error. */
  readonly answerBytesMax?: number;
};

const S3: StoreProtocol<ObjectRequest, S3Credential> = {
  send: (credential, { bucket, key, answerBytesMax, ...request }, { bytesMax, signal }) => {
    const { endpoint, path } = objectAddress(credential, bucket, key);
    const limits = { answerBytesMax: answerBytesMax ?? bytesMax, signal };
    return sendSigned(credential, { ...request, service: 's3', endpoint, path, ...limits });
  },
  errorOf: s3Error,
  // Another write of the same name is running; the body was too slow, or did not arrive as it was sent.
  repeatedCodes: new Set([
    'ConditionalRequestConflict',
    'OperationAborted',
    'RequestTimeout',
    'BadDigest',
    'XAmzContentSHA256Mismatch',
    'IncompleteBody',
  ]),
  isRead: ({ method, key }) => method === 'GET' && key !== '',
};

/** Sends requests to a bucket of S3. */
export class S3Client extends StoreClient<ObjectRequest, S3Credential> {
  constructor(credential: S3Credential, use: StorageUse = {}) {
    super(S3, credential, use);
  }
}

/** The address of a store; without an endpoint that of AWS for the region. */
export const storeAddress = ({ endpoint, region }: Pick<S3Credential, 'endpoint' | 'region'>): string =>
  endpoint ?? `https://s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;

/** The host and the escaped path of an object. */
export function objectAddress(
  { endpoint, region, pathStyle }: Pick<S3Credential, 'endpoint' | 'region' | 'pathStyle'>,
  bucket: string,
  key: string,
): { readonly endpoint: string; readonly path: string } {
  const base = storeAddress({ endpoint, region });
  const path = `/${key.split('/').map(escapeUri).join('/')}`;
  if (pathStyle) return { endpoint: base, path: `/${bucket}${path === '/' ? '' : path}` };
  const url = new URL(base);
  return { endpoint: `${url.protocol}//${bucket}.${url.host}`, path };
}
