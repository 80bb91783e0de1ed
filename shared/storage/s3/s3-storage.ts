import { SkeinError } from '#shared/error.ts';
import type { S3Credential } from '#shared/storage/credential.ts';
import type { StorageUse } from '#shared/storage/storage-use.ts';
import type { ListedFile, Storage } from '#shared/storage/storage.ts';
import { S3Client } from './s3-client.ts';
import { listObjects, removeObjects } from './s3-lists.ts';
import { s3Location, s3Place } from './s3-object.ts';
import { headObject, readObject, readRange, readTail } from './s3-ranges.ts';
import { abortUploads } from './s3-uploads.ts';
import { copyObject, putObject, putStream } from './s3-writes.ts';

/** Storage of `s3:` locations. It has no folders and no links; the programs of this machine cannot open its files. */
export function s3Storage(credential: S3Credential, use?: StorageUse): Storage {
  const client = new S3Client(credential, use);
  const fileAt = async (location: string): Promise<ListedFile | undefined> => {
    const facts = await headObject(client, location);
    if (facts === undefined) return undefined;
    const { sizeBytes, modifiedMs, etag } = facts;
    return { location: s3Location(s3Place(location)), sizeBytes, modifiedMs, etag };
  };
  return {
    isLocal: false,
    read: (location, bytesMax) => readObject(client, location, bytesMax),
    readRange: (location, offset, length, etag = '') =>
      readRange(client, location, { begin: offset, end: offset + length, etag: etag === '' ? null : etag }),
    openFile: async (location, tailBytes) => {
      const { sizeBytes, etag, tail, checksums } = await readTail(client, location, tailBytes);
      return {
        sizeBytes,
        tail,
        etag,
        checksums,
        read: (offset, length) =>
          readRange(client, location, { begin: offset, end: Math.min(sizeBytes, offset + length), etag }),
        [Symbol.asyncDispose]: () => Promise.resolve(),
      };
    },
    write: (location, bytes) => putObject(client, location, bytes),
    writeStream: (location, chunks, checksums) => putStream(client, location, { chunks, checksums }),
    place: async (from, to) => {
      await copyObject(client, from, to);
      await removeObjects(client, [from]);
    },
    sync: (location) => Promise.reject(notLocal(location)),
    list: (folder) => locationsOf(listObjects(client, folder)),
    listFiles: (folder) => listObjects(client, folder),
    fileAt,
    modifiedMs: async (location) => (await fileAt(location))?.modifiedMs,
    remove: (locations) => removeObjects(client, locations),
    abortUploads: (folder, text) => abortUploads(client, folder, text),
    exists: async (location) => (await headObject(client, location)) !== undefined,
    makeFolder: () => Promise.resolve(),
    removeEmptyFolders: () => Promise.resolve(),
    resolve: async (location) => {
      if ((await headObject(client, location)) !== undefined) return s3Location(s3Place(location));
      for await (const page of listObjects(client, location, 1)) {
        if (page.length > 0) return s3Location(s3Place(location));
      }
      return undefined;
    },
    localPath: (location) => {
      throw notLocal(location);
    },
  };
}

const notLocal = (location: string): SkeinError => new SkeinError('NOT_SUPPORTED', `not a local location: ${location}`);

async function* locationsOf(pages: AsyncIterable<readonly ListedFile[]>): AsyncGenerator<readonly string[]> {
  for await (const page of pages) yield page.map(({ location }) => location);
}
