import { SkeinError } from '#shared/error.ts';
import { normalizeLocation } from '#shared/storage/location.ts';
import { escapeUri } from '#shared/storage/object/send-request.ts';

/** An object's place: the key is taken byte for byte as the location spells it. */
export type GcsPlace = { readonly bucket: string; readonly key: string };

const GCS_LOCATION = /^gs:\/\/([^/]+)(?:\/(.*))?$/s;
/** Bytes of a name, as Google allows. */
const KEY_BYTES_MAX = 1_024;

/** @throws NOT_SUPPORTED for another scheme, INVALID_REQUEST for a name that no object has */
export function gcsPlace(location: string): GcsPlace {
  const match = GCS_LOCATION.exec(normalizeLocation(location));
  if (match === null) throw new SkeinError('NOT_SUPPORTED', `not a location in a bucket of Google’s: ${location}`);
  const [, bucket = '', key = ''] = match;
  if (Buffer.byteLength(key) > KEY_BYTES_MAX || /[\r\n]/.test(key)) {
    throw new SkeinError('INVALID_REQUEST', `a name that no object has: ${location}`);
  }
  return { bucket, key };
}

export const gcsLocation = ({ bucket, key }: GcsPlace): string => `gs://${bucket}/${key}`;

/** The path of an object in the XML API, whose answers tell what its writer has said of it. */
export const objectPath = ({ bucket, key }: GcsPlace): string =>
  `/${bucket}/${key.split('/').map(escapeUri).join('/')}`;

/** The same in the JSON API, where a name is one word. */
export const resourcePath = ({ bucket, key }: GcsPlace): string => `/storage/v1/b/${bucket}/o/${escapeUri(key)}`;
