import { removeOneByOne } from '#shared/storage/object/remove-one-by-one.ts';
import { storageError } from '#shared/storage/object/store-error.ts';
import type { ListedFile } from '#shared/storage/storage.ts';
import type { GcsClient } from './gcs-client.ts';
import { gcsLocation, gcsPlace, resourcePath } from './gcs-object.ts';

type Page = {
  readonly items?: readonly {
    readonly name?: string;
    readonly size?: string;
    readonly updated?: string;
    readonly generation?: string;
  }[];
  readonly nextPageToken?: string;
};

/** The objects below a folder, page by page, in the order of their names. @throws STORAGE_ERROR */
export async function* listGcsObjects(
  client: GcsClient,
  folder: string,
  pageSize?: number,
): AsyncGenerator<readonly ListedFile[]> {
  const { bucket, key } = gcsPlace(folder);
  // Without the slash a boundary for `key/` refuses the list, and `key2` would be found, too.
  const prefix = key === '' ? '' : `${key}/`;
  let pageToken: string | undefined;
  do {
    const query = {
      prefix,
      fields: 'items(name,size,updated,generation),nextPageToken',
      ...(pageSize === undefined ? {} : { maxResults: String(pageSize) }),
      ...(pageToken === undefined ? {} : { pageToken }),
    };
    let page: Page;
    try {
      const answer = await client.send({ method: 'GET', path: `/storage/v1/b/${bucket}/o`, query });
      page = JSON.parse(answer.body.toString()) as Page;
    } catch (error) {
      throw storageError(folder, error);
    }
    const files = (page.items ?? []).map(({ name = '', size, updated, generation }) => ({
      location: gcsLocation({ bucket, key: name }),
      sizeBytes: Number(size ?? 0),
      // Objects themselves tell whole seconds.
      modifiedMs: Math.floor((Date.parse(updated ?? '') || 0) / 1_000) * 1_000,
      etag: generation ?? '',
    }));
    // Some programs make objects that stand for folders.
    yield files.filter(({ location }) => !location.endsWith('/'));
    pageToken = page.nextPageToken === '' ? undefined : page.nextPageToken;
  } while (pageToken !== undefined);
}

/** Deletes objects, as many as possible. @throws FilesStayed */
export const removeGcsObjects = (client: GcsClient, locations: readonly string[]): Promise<void> =>
  removeOneByOne(locations, async (location) => {
    await client.send({ method: 'DELETE', path: resourcePath(gcsPlace(location)) }, [404]);
  });
