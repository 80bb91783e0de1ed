import {
  EMPTY_RANGE,
  rangeHeader,
  readAnswerOf,
  type HeadFacts,
  type ReadAnswer,
  type Reading,
} from '#shared/storage/object/object-store.ts';
import { md5Of } from '#shared/storage/object/md5.ts';
import { checksumsIn, writeIdIn } from '#shared/storage/object/own-headers.ts';
import type { StoreAnswer } from '#shared/storage/object/send-request.ts';
import { StoreError } from '#shared/storage/object/store-error.ts';
import { crc32c } from './crc32c.ts';
import type { GcsClient } from './gcs-client.ts';
import { gcsPlace, objectPath } from './gcs-object.ts';

/** How headers of our own begin. */
export const GCS_OWN = 'x-goog-meta-skein-';
/** Otherwise the store unpacks objects that were packed, and their sizes and ranges are others. */
const AS_IT_IS = { 'accept-encoding': 'gzip' };

/** Reads an object by the XML API. It is pinned by its generation, which another object of the name does not have. */
export async function getGcsObject(
  client: GcsClient,
  location: string,
  { range, etag: generation, bytesMax }: Reading,
): Promise<ReadAnswer> {
  const request = {
    method: 'GET',
    path: objectPath(gcsPlace(location)),
    query: generation === null ? {} : { generation },
    headers: { ...AS_IT_IS, ...rangeHeader(range) },
    answerBytesMax: bytesMax,
    isRead: true,
  } as const;
  const answer = await client.send(request, generation === null ? [EMPTY_RANGE] : [EMPTY_RANGE, 404]);
  if (answer.status === 404) {
    const isReplaced = (await headGcsObject(client, location)) !== undefined;
    throw isReplaced ? new StoreError(412, 'conditionNotMet') : new StoreError(404, 'notFound');
  }
  return readAnswerOf(answer, factsIn(answer), sumsOf(answer));
}

/** The facts of an object; undefined when it is not there. @throws StoreError */
export async function headGcsObject(client: GcsClient, location: string): Promise<HeadFacts | undefined> {
  const path = objectPath(gcsPlace(location));
  const answer = await client.send({ method: 'HEAD', path, headers: AS_IT_IS }, [404]);
  if (answer.status === 404) return undefined;
  return { ...readAnswerOf(answer, factsIn(answer)).facts, writeId: writeIdIn(GCS_OWN, answer.headers) };
}

const factsIn = ({ headers }: StoreAnswer): Pick<HeadFacts, 'etag' | 'checksums'> => ({
  etag: String(headers['x-goog-generation'] ?? ''),
  checksums: checksumsIn(GCS_OWN, headers),
});

/** The store keeps MD5 of most objects, and CRC-32C of all. */
function sumsOf({ headers }: StoreAnswer): ReadAnswer['isWhole'] {
  const sums = [headers['x-goog-hash'] ?? []].flat().flatMap((text) => text.split(','));
  const sum = (name: string): string | undefined =>
    sums
      .map((one) => one.trim())
      .find((one) => one.startsWith(`${name}=`))
      ?.slice(name.length + 1);
  const [md5, crc] = [sum('md5'), sum('crc32c')];
  if (md5 !== undefined && md5 !== '') return (body) => md5Of(body) === md5;
  return crc === undefined || crc === '' ? null : (body) => crc32c(body) === crc;
}
