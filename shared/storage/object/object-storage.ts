import { SkeinError } from '#shared/error.ts';
import type { ListedFile, Storage } from '#shared/storage/storage.ts';
import { readObject, readRange, readTail } from './object-reads.ts';
import type { HeadFacts, ObjectStore } from './object-store.ts';
import { putObject, putStream } from './object-writes.ts';
import { storageError } from './store-error.ts';

/** The storage of locations in a store. It has no folders and no links; the programs of this machine cannot open its files. */
export function objectStorage(store: ObjectStore): Storage {
  const head = async (location: string): Promise<HeadFacts | undefined> => {
    try {
      return await store.head(location);
    } catch (error) {
      throw storageError(location, error);
    }
  };
  const fileAt = async (location: string): Promise<ListedFile | undefined> => {
    const facts = await head(location);
    if (facts === undefined) return undefined;
    const { sizeBytes, modifiedMs, etag } = facts;
    return { location: store.locationOf(location), sizeBytes, modifiedMs, etag };
  };
  return {
    isLocal: false,
    read: (location, bytesMax) => readObject(store, location, bytesMax),
    readRange: (location, offset, length, etag = '') =>
      readRange(store, location, { begin: offset, end: offset + length, etag: etag === '' ? null : etag }),
    openFile: async (location, tailBytes) => {
      const { sizeBytes, etag, tail, checksums } = await readTail(store, location, tailBytes);
      return {
        sizeBytes,
        tail,
        etag,
        checksums,
        read: (offset, length) =>
          readRange(store, location, { begin: offset, end: Math.min(sizeBytes, offset + length), etag }),
        [Symbol.asyncDispose]: () => Promise.resolve(),
      };
    },
    write: (location, bytes) => putObject(store, location, bytes),
    writeStream: (location, chunks, checksums) => putStream(store, location, { chunks, checksums }),
    place: async (from, to) => {
      await store.copy(from, to);
      await store.remove([from]);
    },
    sync: (location) => Promise.reject(notLocal(location)),
    list: (folder) => locationsOf(store.list(folder)),
    listFiles: (folder) => store.list(folder),
    fileAt,
    modifiedMs: async (location) => (await fileAt(location))?.modifiedMs,
    remove: (locations) => store.remove(locations),
    abortUploads: (folder, text) => store.abortUploads(folder, text),
    exists: async (location) => (await head(location)) !== undefined,
    makeFolder: () => Promise.resolve(),
    removeEmptyFolders: () => Promise.resolve(),
    resolve: async (location) => {
      if ((await head(location)) !== undefined) return store.locationOf(location);
      for await (const page of store.list(location, 1)) {
        if (page.length > 0) return store.locationOf(location);
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
