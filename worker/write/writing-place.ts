import { randomUUID } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { fileCredential, type StorageCredential } from '#shared/storage/credential.ts';
import { fileLocation } from '#shared/storage/location.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import type { StorageUse } from '#shared/storage/storage-use.ts';
import type { Checksums, Storage } from '#shared/storage/storage.ts';
import { checkedBorders, SegmentSums } from '../objects/segment-list.ts';
import { readFooter } from '../scan/footer-cache.ts';
import { bordersOf } from '../scan/segments.ts';

/** Files that are uploaded at once. */
const UPLOADS_AT_ONCE = 2;
/** Bytes of a file that are in memory at once while it is read. */
const CHUNK_BYTES = 2 ** 20;

/** Where DuckDB writes the files of a sink. For a bucket it is a local folder, from which they are uploaded. */
export type WritingPlace = {
  readonly storage: Storage;
  readonly folder: string;
  /** The files do not stay here. */
  readonly isApart: boolean;
  /** Brings files to where the sink wants them. @returns them as they are there @throws STORAGE_ERROR, STORAGE_FULL */
  publish<File extends { readonly path: string }>(
    signal: AbortSignal,
    files: readonly File[],
  ): Promise<readonly File[]>;
  /** Whether the store may have an upload that was begun and whose answer was lost. */
  readonly mayHaveLostUpload: boolean;
  /** Deletes what was brought, as far as possible. */
  takeBack(): Promise<void>;
};

type Sink = { readonly folder: string; readonly credential: StorageCredential };

export function writingPlace(
  { folder, credential }: Sink,
  { workFolder, use }: { readonly workFolder: string; readonly use: StorageUse },
): WritingPlace {
  let mayHaveLostUpload = false;
  const lostUpload = (): void => void (mayHaveLostUpload = true);
  const target = openStorage(folder, credential, { ...use, lostUpload });
  if (target.isLocal) {
    return {
      storage: target,
      folder,
      isApart: false,
      publish: (_signal, files) => Promise.resolve(files),
      mayHaveLostUpload,
      takeBack: () => Promise.resolve(),
    };
  }
  const local = fileLocation(`${workFolder}/${randomUUID()}`);
  const storage = openStorage(local, fileCredential(local));
  const published: string[] = [];
  return {
    storage,
    folder: local,
    isApart: true,
    publish: async (signal, files) => {
      const placed = files.map((file) => ({ ...file, path: `${folder}/${file.path.slice(local.length + 1)}` }));
      let next = 0;
      const work = async (): Promise<void> => {
        for (let i = next++; i < files.length; i = next++) {
          signal.throwIfAborted();
          const [from, to] = [files[i]?.path ?? '', placed[i]?.path ?? ''];
          published.push(to);
          await target.writeStream(to, bytesOf(signal, storage, from), await checksumsOf(signal, storage, from));
        }
      };
      const results = await Promise.allSettled(Array.from({ length: UPLOADS_AT_ONCE }, work));
      const failed = results.find((result) => result.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
      return placed;
    },
    get mayHaveLostUpload() {
      return mayHaveLostUpload;
    },
    takeBack: () => {
      // The task may be cancelled.
      const { signal: _signal, ...rest } = use;
      return openStorage(folder, credential, rest)
        .remove(published)
        .catch(() => undefined);
    },
  };
}

/** Checksums of a local file, and of its segments when it is a Parquet file. */
async function checksumsOf(signal: AbortSignal, storage: Storage, location: string): Promise<Checksums> {
  const footer = location.endsWith('.parquet') ? await readFooter(storage, location) : undefined;
  const found = footer === undefined ? undefined : bordersOf(footer);
  const borders = found === undefined ? undefined : checkedBorders(found);
  let crc = 0;
  let at = 0;
  const sums = new SegmentSums(borders ?? new Float64Array());
  for await (const chunk of bytesOf(signal, storage, location)) {
    crc = crc32(chunk, crc);
    sums.add(chunk, at);
    at += chunk.length;
  }
  return { crc, segments: borders === undefined ? null : sums.all };
}

async function* bytesOf(signal: AbortSignal, storage: Storage, location: string): AsyncGenerator<Buffer> {
  await using file = await storage.openFile(location, 0);
  for (let at = 0; at < file.sizeBytes; at += CHUNK_BYTES) {
    signal.throwIfAborted();
    yield file.read(at, CHUNK_BYTES);
  }
}
