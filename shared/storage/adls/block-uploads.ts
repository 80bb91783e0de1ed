import { SkeinError } from '#shared/error.ts';
import type { AdlsCredential } from '#shared/storage/credential.ts';
import type { ClientUploads, StoredPart, UploadTarget } from '#shared/storage/object/client-uploads.ts';
import { ownHeaders } from '#shared/storage/object/own-headers.ts';
import { elements, readXml, textAt } from '#shared/storage/object/read-xml.ts';
import { storageError } from '#shared/storage/object/store-error.ts';
import { AdlsClient } from './adls-client.ts';
import { adlsPlace } from './adls-place.ts';
import { AZURE_OWN, headBlob } from './adls-reads.ts';
import { discardBlocks } from './adls-uploads.ts';
import { copyBlob } from './adls-writes.ts';
import { blockId, blockList, blockNumber } from './blocks.ts';

/**
 * Uploads in parts by clients, in a container of Azure's: a part is a block. An address opens all of an object, so that blocks come to another one
 * (`UploadTarget.coming`), which becomes the file only when it is as long as its parts. The store tells no ETag of a block.
 */
export function blockUploads(credential: AdlsCredential): ClientUploads {
  const client = new AdlsClient(credential);
  const at = async <T>(target: UploadTarget, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw storageError(target.location, error);
    }
  };
  const isWritten = async ({ location }: UploadTarget, writeId: string): Promise<boolean> =>
    (await headBlob(client, location))?.writeId === writeId;
  const abort = (target: UploadTarget): Promise<void> =>
    at(target, async () => {
      const { status } = await client.send({ method: 'DELETE', place: adlsPlace(target.coming) }, [404]);
      if (status === 404) await discardBlocks(client, target.coming);
    });
  return {
    // Blocks need no beginning: they have the name of the upload.
    begin: (_target, writeId) => Promise.resolve({ id: writeId, mayHaveLost: false }),
    parts: (target, uploadId) =>
      at(target, async () => {
        const parts = await listBlocks(client, target.coming, uploadId);
        return parts.length === 0 && (await isWritten(target, uploadId)) ? undefined : parts;
      }),
    complete: (target, uploadId, parts) =>
      at(target, async () => {
        await copyBlob(client, target.coming, target.location, await commit(client, target, { uploadId, parts }));
        return true;
      }),
    isWritten: (target, writeId) => at(target, () => isWritten(target, writeId)),
    abort,
    abortUnknown: abort,
  };
}

/** Blocks that have come, also those that an earlier time of `commit` has made an object of. */
async function listBlocks(client: AdlsClient, coming: string, uploadId: string): Promise<readonly StoredPart[]> {
  const query = { comp: 'blocklist', blocklisttype: 'all' };
  const answer = await client.send({ method: 'GET', place: adlsPlace(coming), query }, [404]);
  if (answer.status === 404) return [];
  const [list] = elements(readXml(answer.body), 'BlockList');
  if (list === undefined) throw new Error('the store’s list of blocks cannot be read');
  const parts = new Map<number, StoredPart>();
  for (const block of ['CommittedBlocks', 'UncommittedBlocks'].flatMap((name) => elements(list, name, 'Block'))) {
    const number = blockNumber(uploadId, textAt(block, 'Name') ?? '');
    if (number !== undefined) parts.set(number, { number, etag: null, sizeBytes: Number(textAt(block, 'Size')) });
  }
  return [...parts.values()];
}

/** Makes the blocks an object, once. @returns its ETag @throws INVALID_REQUEST when it is another one than the parts make */
async function commit(
  client: AdlsClient,
  { coming }: UploadTarget,
  { uploadId, parts }: { readonly uploadId: string; readonly parts: readonly StoredPart[] },
): Promise<string> {
  const headers = {
    'if-none-match': '*',
    'content-type': 'application/xml',
    'x-ms-blob-content-type': 'application/octet-stream',
    ...ownHeaders(AZURE_OWN, uploadId, null),
  };
  const body = blockList(parts.map(({ number }) => blockId(uploadId, number)));
  const query = { comp: 'blocklist' };
  // It is there already when the answer to an earlier time was lost, or when whoever has an address has made it.
  await client.send({ method: 'PUT', place: adlsPlace(coming), query, headers, body }, [409, 412]);
  const made = await headBlob(client, coming);
  const bytes = parts.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  if (made?.writeId === uploadId && made.sizeBytes === bytes) return made.etag;
  throw new SkeinError('INVALID_REQUEST', 'the parts were made an object by somebody else: begin another upload');
}
