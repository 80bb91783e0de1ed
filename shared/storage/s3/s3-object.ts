import { SkeinError } from '#shared/error.ts';
import { normalizeLocation } from '#shared/storage/location.ts';

/** An object's place: the key is taken byte for byte as the location spells it. */
export type S3Place = { readonly bucket: string; readonly key: string };

const S3_LOCATION = /^s3[an]?:\/\/([^/]+)(?:\/(.*))?$/s;
/** Bytes of a key, as S3 allows. */
const KEY_BYTES_MAX = 1_024;

/** @throws NOT_SUPPORTED for another scheme, INVALID_REQUEST for a key that no object has */
export function s3Place(location: string): S3Place {
  const match = S3_LOCATION.exec(normalizeLocation(location));
  if (match === null) throw new SkeinError('NOT_SUPPORTED', `not a location in a bucket: ${location}`);
  const [, bucket = '', key = ''] = match;
  if (Buffer.byteLength(key) > KEY_BYTES_MAX) {
    throw new SkeinError('INVALID_REQUEST', `a key of more than ${KEY_BYTES_MAX} bytes: ${location}`);
  }
  return { bucket, key };
}

export const s3Location = ({ bucket, key }: S3Place): string => `s3://${bucket}/${key}`;
