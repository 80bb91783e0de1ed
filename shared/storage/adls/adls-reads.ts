import {
  EMPTY_RANGE,
  rangeHeader,
  readAnswerOf,
  unquoted,
  type HeadFacts,
  type ReadAnswer,
  type Reading,
} from '#shared/storage/object/object-store.ts';
import { md5Of } from '#shared/storage/object/md5.ts';
import { checksumsIn, writeIdIn } from '#shared/storage/object/own-headers.ts';
import type { StoreAnswer } from '#shared/storage/object/send-request.ts';
import { StoreError } from '#shared/storage/object/store-error.ts';
import type { AdlsClient } from './adls-client.ts';
import { adlsPlace } from './adls-place.ts';

/** How headers of our own begin: Azure's names are those of a programming language, and have no hyphen. */
export const AZURE_OWN = 'x-ms-meta-skein_';

/** Reads an object, pinned by its ETag. The store knows no range from the end. */
export async function getBlob(
  client: AdlsClient,
  location: string,
  { range, etag, bytesMax }: Reading,
): Promise<ReadAnswer> {
  const answer = await client.send(
    {
      method: 'GET',
      place: adlsPlace(location),
      headers: { ...rangeHeader(range), ...(etag === null ? {} : { 'if-match': `"${etag}"` }) },
      answerBytesMax: bytesMax,
      isRead: true,
    },
    [EMPTY_RANGE],
  );
  if (isFolder(answer)) throw new StoreError(404, 'BlobNotFound');
  const md5 = String(answer.headers['content-md5'] ?? '');
  return readAnswerOf(answer, factsIn(answer), md5 === '' ? null : (body) => md5Of(body) === md5);
}

/** The facts of an object; undefined when it is not there, or is a folder. @throws StoreError */
export async function headBlob(client: AdlsClient, location: string): Promise<HeadFacts | undefined> {
  const answer = await client.send({ method: 'HEAD', place: adlsPlace(location) }, [404]);
  if (answer.status === 404 || isFolder(answer)) return undefined;
  return { ...readAnswerOf(answer, factsIn(answer)).facts, writeId: writeIdIn(AZURE_OWN, answer.headers) };
}

const isFolder = ({ headers }: Pick<StoreAnswer, 'headers'>): boolean =>
  headers['x-ms-resource-type'] === 'directory' || headers['x-ms-meta-hdi_isfolder'] === 'true';

const factsIn = ({ headers }: StoreAnswer): Pick<HeadFacts, 'etag' | 'checksums'> => ({
  etag: unquoted(headers.etag ?? ''),
  checksums: checksumsIn(AZURE_OWN, headers),
});
