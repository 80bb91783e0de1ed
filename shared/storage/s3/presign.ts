import type { S3Credential } from '#shared/storage/credential.ts';
import { objectAddress } from './s3-client.ts';
import { s3Place } from './s3-object.ts';
import { withQuery } from '#shared/storage/object/send-request.ts';
import { signer } from './signed-request.ts';

/** One request for an object, as the address of the store that holds the right to it. */
export type PresignedRequest = {
  readonly method: 'GET' | 'PUT';
  readonly location: string;
  /** A part of an upload. */
  readonly part?: { readonly uploadId: string; readonly number: number } | undefined;
  /** How the answer calls its bytes, whatever their writer has said. */
  readonly answersAs?: { readonly type: string; readonly disposition: string } | undefined;
  /** Bytes that the body must have. */
  readonly sizeBytes?: number | undefined;
  readonly expiresAtMs: number;
};

/** Longest time for which a signature of version 4 is good. */
const SECONDS_MAX = 7 * 86_400;

/**
 * An address by which whoever has it may send one request, until a time. The store takes it no longer than its key lives: the caller asks for
 * no later time. @param nowMs the time of the signature
 */
export async function presign(
  credential: S3Credential,
  { method, location, part, answersAs, sizeBytes, expiresAtMs }: PresignedRequest,
  nowMs: number,
): Promise<string> {
  const { bucket, key } = s3Place(location);
  const { endpoint, path } = objectAddress(credential, bucket, key);
  const { protocol, host } = new URL(endpoint);
  // The time of a signature has whole seconds.
  const signingDate = new Date(Math.floor(nowMs / 1_000) * 1_000);
  const expiresIn = Math.max(1, Math.ceil((expiresAtMs - signingDate.getTime()) / 1_000));
  const signed = await signer(credential, 's3').presign(
    {
      method,
      protocol,
      hostname: host,
      path,
      query: {
        ...(part === undefined ? {} : { partNumber: String(part.number), uploadId: part.uploadId }),
        ...(answersAs === undefined
          ? {}
          : { 'response-content-type': answersAs.type, 'response-content-disposition': answersAs.disposition }),
      },
      headers: {
        host,
        'X-Amz-Content-Sha256': 'UNSIGNED-PAYLOAD',
        ...(sizeBytes === undefined ? {} : { 'content-length': String(sizeBytes) }),
      },
    },
    { signingDate, expiresIn: Math.min(SECONDS_MAX, expiresIn) },
  );
  return endpoint + withQuery(path, signed.query as Readonly<Record<string, string>>);
}
