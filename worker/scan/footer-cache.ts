import { MemoryUses } from '#shared/memory-uses.ts';
import { crc32 } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import { SkeinError } from '#shared/error.ts';
import type { TenantId } from '#shared/id.ts';
import { tooComplex } from '#shared/iceberg/decode-limits.ts';
import { FileNotFound, NotAFile, type OpenedFile, type Storage } from '#shared/storage/storage.ts';
import { SharedPlaces } from '#shared/thread/shared-places.ts';
import { checkedBorders } from '../objects/segment-list.ts';
import { decodeFooter, TRAILER_BYTES, type Footer, type ReadFooter } from './footer.ts';
import type { OpenScanned } from './readable-path.ts';
import { bordersOf } from './segments.ts';
import { corrupt } from './thrift-cursor.ts';

/** Bytes at the file's end fetched in the first read; most footers fit. */
const TAIL_BYTES = 64 * 1024;
const MAGIC = 'PAR1';
const FOOTER_BYTES_MAX = 64 * 2 ** 20;
/** How often a footer is read whose bytes are not those that its writer has written. */
const READS_MAX = 4;
/** Limit of memory of the footers in the cache. */
const CACHE_BYTES_MAX = 64 * 2 ** 20;
/** Footers longer than `TAIL_BYTES` that a thread reads concurrently, each of a different tenant. */
const LARGE_AT_ONCE = 2;
const LARGE_WAITING_MAX = 10_000;

/** Waits until a large footer may be read; the function it resolves to ends the turn. */
type TakeTurn = () => Promise<() => void>;

/** The table that refers to a file, its tenant, and the way to the file. */
type Owner = { readonly tenant: TenantId; readonly tableUuid: string; readonly open: OpenScanned };

/**
 * An LRU cache of the footers of immutable files, one per thread. A footer belongs to the table whose scan read it: a path may later
 * belong to another table, even of another tenant, and then hold another file.
 */
export class FooterCache {
  readonly #footers = new LRUCache<string, Footer>({
    maxSize: CACHE_BYTES_MAX,
    sizeCalculation: ({ bytes }) => Math.max(1, bytes),
  });
  readonly #large = new SharedPlaces(LARGE_AT_ONCE, LARGE_WAITING_MAX);
  readonly #uses: MemoryUses;

  constructor(uses = new MemoryUses()) {
    this.#uses = uses;
  }

  of(signal: AbortSignal, { tenant, tableUuid, open }: Owner): ReadFooter {
    const large = (): Promise<() => void> => this.#large.take(tenant, signal);
    return async ({ path, sizeBytes }) => {
      const key = JSON.stringify([tenant, tableUuid, sizeBytes, path]);
      const cached = this.#uses.of(this.#footers.get(key));
      if (cached !== undefined) return cached;
      const footer = await readFooter(open(path), path, large);
      this.#footers.set(key, footer);
      return footer;
    };
  }
}

/** Reads the footer of a file, without a cache. @throws as `ReadFooter` */
export async function readFooter(
  storage: Storage,
  location: string,
  large: TakeTurn = () => Promise.resolve(() => undefined),
): Promise<Footer> {
  const name = location.slice(location.lastIndexOf('/') + 1);
  for (let reads = 1; ; reads++) {
    await using file = await storage.openFile(location, TAIL_BYTES).catch((error: unknown) => {
      throw describe(name, error);
    });
    try {
      const footer = await readOnce(file, large);
      if (await isAsWritten(file, footer)) return footer;
      throw corrupt('the store gives other bytes than were written');
    } catch (error) {
      const isCorrupt = error instanceof SkeinError && error.code === 'INVALID_TABLE_DATA';
      if (!isCorrupt || file.checksums === null) throw describe(name, error);
      if (reads >= READS_MAX)
        throw new SkeinError('STORAGE_ERROR', `the store gives other bytes of ${name} than were written`);
    }
  }
}

async function readOnce(file: OpenedFile, large: TakeTurn): Promise<Footer> {
  const { tail, sizeBytes } = file;
  const length = metadataLength(tail, sizeBytes);
  const inTail = tail.length - TRAILER_BYTES - length;
  // Copied, because the decoded footer keeps its bytes and must not hold the whole tail.
  if (inTail >= 0) return await decodeFooter(Buffer.from(tail.subarray(inTail, inTail + length)), sizeBytes);
  const leave = await large();
  try {
    const metadata = await file.read(sizeBytes - TRAILER_BYTES - length, length);
    if (metadata.length !== length) throw corrupt('the file is cut short');
    return await decodeFooter(metadata, sizeBytes);
  } finally {
    leave();
  }
}

/** Compares the segment of the footer with the checksum that the file's writer has told, if it did. */
async function isAsWritten(file: OpenedFile, footer: Footer): Promise<boolean> {
  const { checksums, tail, sizeBytes } = file;
  const sum = checksums?.segments?.at(-1);
  if (sum === undefined) return true;
  const borders = bordersOf(footer);
  const start = borders === undefined ? undefined : checkedBorders(borders).at(-2);
  if (start === undefined) return false;
  const inTail = start - (sizeBytes - tail.length);
  return crc32(inTail >= 0 ? tail.subarray(inTail) : await file.read(start, sizeBytes - start)) === sum;
}

/** Length in bytes of the struct `FileMetaData` at the end of the file. */
function metadataLength(tail: Buffer, sizeBytes: number): number {
  const isParquet = tail.length >= TRAILER_BYTES && tail.toString('latin1', tail.length - MAGIC.length) === MAGIC;
  if (!isParquet) throw corrupt('no magic number');
  const length = tail.readUInt32LE(tail.length - TRAILER_BYTES);
  if (length > sizeBytes - TRAILER_BYTES) throw corrupt('the footer is longer than the file');
  if (length > FOOTER_BYTES_MAX) throw tooComplex(`it is longer than ${FOOTER_BYTES_MAX} bytes`);
  return length;
}

function describe(name: string, error: unknown): unknown {
  if (error instanceof SkeinError && error.code === 'TABLE_DATA_TOO_COMPLEX') {
    return new SkeinError(error.code, `the footer of ${name}: ${error.message}`);
  }
  if (error instanceof NotAFile || (error instanceof SkeinError && error.code === 'INVALID_TABLE_DATA')) {
    return new SkeinError('INVALID_TABLE_DATA', `${name} is not a valid Parquet file`, { cause: error });
  }
  const isUnread = error instanceof FileNotFound || (error instanceof SkeinError && error.code === 'STORAGE_ERROR');
  if (!isUnread) return error;
  return new SkeinError('STORAGE_ERROR', `cannot read the data file ${name}`, { cause: error });
}
