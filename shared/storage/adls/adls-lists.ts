import { unquoted } from '#shared/storage/object/object-store.ts';
import { elements, readXml, textAt, type XmlNode } from '#shared/storage/object/read-xml.ts';
import { removeOneByOne } from '#shared/storage/object/remove-one-by-one.ts';
import { storageError } from '#shared/storage/object/store-error.ts';
import type { ListedFile } from '#shared/storage/storage.ts';
import { adlsError, type AdlsClient } from './adls-client.ts';
import { adlsLocation, adlsPlace, type AdlsPlace } from './adls-place.ts';

/** Objects of a page: the store's own pages of 5,000 may be larger than an answer. */
const PAGE = 1_000;

/**
 * The objects below a folder, page by page, in the order of their names. @param withUploads also names that have blocks and no object yet
 * @throws STORAGE_ERROR
 */
export async function* listBlobs(
  client: AdlsClient,
  folder: string,
  {
    pageSize = PAGE,
    withUploads = false,
  }: { readonly pageSize?: number | undefined; readonly withUploads?: boolean } = {},
): AsyncGenerator<readonly ListedFile[]> {
  const place = adlsPlace(folder);
  const prefix = place.key === '' ? '' : `${place.key}/`;
  let marker = '';
  do {
    const query = {
      restype: 'container',
      comp: 'list',
      prefix,
      maxresults: String(pageSize),
      ...(withUploads ? { include: 'uncommittedblobs' } : {}),
      ...(marker === '' ? {} : { marker }),
    };
    let page: XmlNode | undefined;
    try {
      const answer = await client.send({ method: 'GET', place: { ...place, key: '' }, query });
      [page] = elements(readXml(answer.body), 'EnumerationResults');
      if (page === undefined) throw new Error('the store’s list cannot be read');
    } catch (error) {
      throw storageError(folder, error);
    }
    yield elements(page, 'Blobs', 'Blob')
      .filter(isFile)
      .map((blob) => listed(blob, place));
    marker = textAt(page, 'NextMarker') ?? '';
  } while (marker !== '');
}

/** Accounts with folders list them, too. */
const isFile = (blob: XmlNode): boolean =>
  textAt(blob, 'Properties', 'ResourceType') !== 'directory' && textAt(blob, 'Name')?.endsWith('/') === false;

function listed(blob: XmlNode, place: AdlsPlace): ListedFile {
  return {
    location: adlsLocation({ ...place, key: textAt(blob, 'Name') ?? '' }),
    sizeBytes: Number(textAt(blob, 'Properties', 'Content-Length') ?? 0),
    modifiedMs: Date.parse(textAt(blob, 'Properties', 'Last-Modified') ?? '') || 0,
    etag: unquoted(textAt(blob, 'Properties', 'Etag') ?? ''),
  };
}

/** Deletes objects, as many as possible; a folder with files stays. @throws FilesStayed */
export const removeBlobs = (client: AdlsClient, locations: readonly string[]): Promise<void> =>
  removeOneByOne(locations, async (location) => {
    const answer = await client.send({ method: 'DELETE', place: adlsPlace(location) }, [404, 409]);
    if (answer.status !== 409) return;
    const error = adlsError(answer);
    if (error.code !== 'DirectoryIsNotEmpty') throw error;
  });
