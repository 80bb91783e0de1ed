import { crc32 } from 'node:zlib';
import { SkeinError } from '#shared/error.ts';
import type { Checksums } from '#shared/storage/storage.ts';
import type { ObjectStore } from './object-store.ts';
import { storageError } from './store-error.ts';

/** Writes of objects: each is whole or not there, and none replaces another. */

/** Bytes of a part; what has fewer is written in one request. A multiple of 256 KiB, as GCS wants it. */
const PART_BYTES = 16 * 2 ** 20;
/** Parts of one object that are on their way. */
const PARTS_AT_ONCE = 3;

type Writes = Pick<ObjectStore, 'put' | 'beginUpload'>;

/** Creates an object. @throws STORAGE_ERROR when it exists */
export async function putObject(
  store: Writes,
  location: string,
  body: Uint8Array,
  checksums: Checksums = { crc: crc32(body), segments: null },
): Promise<void> {
  try {
    await store.put(location, body, checksums);
  } catch (error) {
    throw storageError(location, error);
  }
}

/**
 * An object that exists may be what an earlier time of sending the request has made, whose answer was lost.
 * @throws STORAGE_ERROR when it is another one
 */
export async function requireOwn(
  { head }: Pick<ObjectStore, 'head'>,
  location: string,
  { writeId, sent }: { readonly writeId: string; readonly sent: number },
): Promise<void> {
  if (sent > 1 && (await head(location))?.writeId === writeId) return;
  throw new SkeinError('STORAGE_ERROR', `cannot write ${location}: it exists`);
}

/**
 * Creates an object of bytes that come one after the other. @param checksums of them, when they are known before
 * @returns its size @throws also what the bytes throw
 */
export async function putStream(
  store: Writes,
  location: string,
  { chunks, checksums }: { readonly chunks: AsyncIterable<Uint8Array>; readonly checksums: Checksums | undefined },
): Promise<number> {
  const parts = partsOf(chunks);
  const first = await parts.next();
  if (first.done === true) {
    await putObject(store, location, new Uint8Array());
    return 0;
  }
  if (first.value.length < PART_BYTES) {
    await putObject(store, location, first.value, checksums);
    return first.value.length;
  }
  const upload = await store.beginUpload(location, checksums).catch((error: unknown) => {
    throw storageError(location, error);
  });
  try {
    let sizeBytes = first.value.length;
    await upload.add(first.value);
    for await (const part of parts) {
      sizeBytes += part.length;
      await upload.add(part);
    }
    await upload.complete();
    return sizeBytes;
  } catch (error) {
    await upload.abort();
    throw error;
  }
}

/** The bytes in parts of one size, the last one smaller. */
async function* partsOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer, void> {
  let part: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length;) {
      const piece = chunk.subarray(at, at + PART_BYTES - bytes);
      part.push(piece);
      bytes += piece.length;
      at += piece.length;
      if (bytes < PART_BYTES) continue;
      yield Buffer.concat(part);
      part = [];
      bytes = 0;
    }
  }
  if (bytes > 0) yield Buffer.concat(part);
}

/** The parts of one object that are on their way, a few at once; each has a name that the store, or the caller, gives. */
export class PartsOnTheWay {
  readonly #location: string;
  readonly #partsMax: number;
  readonly #names: string[] = [];
  readonly #running = new Set<Promise<void>>();
  #count = 0;
  #failure: unknown;

  constructor(location: string, partsMax: number) {
    this.#location = location;
    this.#partsMax = partsMax;
  }

  /** Begins to send a part, and waits until few enough are on their way. @throws STORAGE_ERROR of an earlier part, too */
  async start(send: (number: number) => Promise<string>): Promise<void> {
    const number = ++this.#count;
    if (number > this.#partsMax) throw new SkeinError('STORAGE_ERROR', `${this.#location} would have too many parts`);
    const take = async (): Promise<void> => {
      try {
        this.#names[number - 1] = await send(number);
      } catch (error) {
        this.#failure ??= error;
      }
    };
    const running = take().finally(() => this.#running.delete(running));
    this.#running.add(running);
    if (this.#running.size >= PARTS_AT_ONCE) await Promise.race(this.#running);
    this.#check();
  }

  /** The names of all parts, in their order, when they have arrived. @throws STORAGE_ERROR */
  async all(): Promise<readonly string[]> {
    await this.settled();
    this.#check();
    return this.#names;
  }

  /** Waits for those that are on their way; never throws. */
  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }

  #check(): void {
    if (this.#failure !== undefined) throw storageError(this.#location, this.#failure);
  }
}
