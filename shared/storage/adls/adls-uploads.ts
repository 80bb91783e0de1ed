import { randomUUID } from 'node:crypto';
import { ownHeaders } from '#shared/storage/object/own-headers.ts';
import { storageError } from '#shared/storage/object/store-error.ts';
import type { AdlsClient } from './adls-client.ts';
import { listBlobs } from './adls-lists.ts';
import { adlsPlace } from './adls-place.ts';
import { AZURE_OWN, headBlob } from './adls-reads.ts';
import { blockList } from './blocks.ts';

/** Ends of uploads whose blocks nobody has made an object: the store would keep these for a week. */

/** A name that is taken, and an object that is another one. */
const REFUSED: readonly number[] = [409, 412];
const DISCARDS_AT_ONCE = 4;

/**
 * Discards the blocks of a name that has no object: an empty one is made of none of them, and is deleted.
 * @returns false when the name has an object, which stays @throws StoreError
 */
export async function discardBlocks(client: AdlsClient, location: string): Promise<boolean> {
  const place = adlsPlace(location);
  const writeId = randomUUID();
  const headers = { 'if-none-match': '*', 'content-type': 'application/xml', ...ownHeaders(AZURE_OWN, writeId, null) };
  const query = { comp: 'blocklist' };
  const answer = await client.send({ method: 'PUT', place, query, headers, body: blockList([]) }, REFUSED);
  // An earlier time of sending may have made it, whose answer was lost.
  if (answer.status >= 400 && answer.sent === 1) return false;
  const made = await headBlob(client, location);
  if (made?.writeId !== writeId) return false;
  await client.send({ method: 'DELETE', place, headers: { 'if-match': `"${made.etag}"` } }, [404, ...REFUSED]);
  return true;
}

/** Ends the uploads below a folder of objects whose names hold a text. @returns their number @throws STORAGE_ERROR */
export async function abortBlockUploads(client: AdlsClient, folder: string, text: string): Promise<number> {
  let aborted = 0;
  try {
    for await (const page of listBlobs(client, folder, { withUploads: true })) {
      // A name without an object has no bytes.
      const meant = page.filter(({ location, sizeBytes }) => sizeBytes === 0 && location.includes(text)).values();
      const work = async (): Promise<void> => {
        for (const { location } of meant) if (await discardBlocks(client, location)) aborted += 1;
      };
      await Promise.all(Array.from({ length: DISCARDS_AT_ONCE }, work));
    }
    return aborted;
  } catch (error) {
    throw storageError(folder, error);
  }
}
