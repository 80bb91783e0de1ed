import { crc32 } from 'node:zlib';
import {
  EMPTY_RANGE,
  rangeHeader,
  readAnswerOf,
  unquoted,
  type HeadFacts,
  type ReadAnswer,
  type Reading,
} from '#shared/storage/object/object-store.ts';
import { checksumsIn, writeIdIn } from '#shared/storage/object/own-headers.ts';
import type { StoreAnswer } from '#shared/storage/object/send-request.ts';
import type { S3Client } from './s3-client.ts';
import { s3Place } from './s3-object.ts';

/** How headers of our own begin. */
export const S3_OWN = 'x-amz-meta-skein-';

export async function getObject(
  client: S3Client,
  location: string,
  { range, etag, bytesMax }: Reading,
): Promise<ReadAnswer> {
  const headers = {
    ...rangeHeader(range),
    ...(range === null ? { 'x-amz-checksum-mode': 'ENABLED' } : {}),
    ...(etag === null ? {} : { 'if-match': `"${etag}"` }),
  };
  const request = { ...s3Place(location), method: 'GET', headers, answerBytesMax: bytesMax } as const;
  const answer = await client.send(request, [EMPTY_RANGE]);
  const crc = storeCrcOf(answer);
  return readAnswerOf(answer, factsIn(answer), crc === null ? null : (body) => crc32(body) === crc);
}

/** The facts of an object; undefined when it is not there. @throws StoreError */
export async function headObject(client: S3Client, location: string): Promise<HeadFacts | undefined> {
  const answer = await client.send({ ...s3Place(location), method: 'HEAD' }, [404]);
  if (answer.status === 404) return undefined;
  return { ...readAnswerOf(answer, factsIn(answer)).facts, writeId: writeIdIn(S3_OWN, answer.headers) };
}

const factsIn = ({ headers }: StoreAnswer): Pick<HeadFacts, 'etag' | 'checksums'> => ({
  etag: unquoted(headers.etag ?? ''),
  checksums: checksumsIn(S3_OWN, headers),
});

/** The checksum of a whole object that the store keeps. That of an object of parts may be one of their checksums: then it has a dash. */
function storeCrcOf({ headers }: StoreAnswer): number | null {
  const text = String(headers['x-amz-checksum-crc32'] ?? '');
  return /^[A-Za-z0-9+/]{6}==$/.test(text) ? Buffer.from(text, 'base64').readUInt32BE() : null;
}
