import { constants } from 'node:fs';
import { open, stat, type FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import type { ByteRange } from '#shared/iceberg/scan-file.ts';
import type { Storage } from '#shared/storage/storage.ts';
import { fetchSegments, type WantedSegments } from './fetch-segments.ts';
import { decodeFacts, decodePieces, encodePieces, type ObjectFacts, type Piece } from './object-journal.ts';
import { checkedBorders, RangeSet, segmentsWith } from './segment-list.ts';

/** The bytes of an object that a reader may read. */
export type WantedBytes = {
  readonly ranges: readonly ByteRange[];
  /** Borders of the file's segments (`worker/scan/segments.ts`). */
  readonly borders: Float64Array;
};

/** Bytes that are read at once to compare them with their checksum. */
const CHECKED_BYTES = 2 ** 20;

/**
 * A local file with the size of an object, and with some of its bytes, which come as they are wanted; the rest are holes. `path` is the
 * file as tasks have it, `journal` the path of its journal, if the file is kept for later tasks.
 */
export class ObjectCopy {
  readonly path: string;
  readonly facts: ObjectFacts;
  readonly #here: RangeSet;
  /** Pieces that are not in a journal yet. */
  #unwritten: Piece[] = [];
  #journal: { readonly path: string; offset: number } | undefined;

  constructor(path: string, facts: ObjectFacts, here = new RangeSet()) {
    this.path = path;
    this.facts = facts;
    this.#here = here;
  }

  /** The bytes that are here. */
  get bytes(): number {
    return this.#here.bytes;
  }

  /** The path of its journal, while it is kept. */
  get journal(): string | undefined {
    return this.#journal?.path;
  }

  get isWhole(): boolean {
    return this.#here.has({ start: 0, end: this.facts.sizeBytes });
  }

  /** The last bytes as far as they are here, at most so many. */
  async tail(bytesMax: number): Promise<Buffer> {
    const { sizeBytes } = this.facts;
    const start = Math.max(this.#here.startOf(sizeBytes), sizeBytes - bytesMax);
    await using file = await open(this.path, 'r');
    return readAt(file, start, sizeBytes - start);
  }

  /** Bytes from here; undefined when some are missing. */
  async read(offset: number, length: number): Promise<Buffer | undefined> {
    const end = Math.min(offset + length, this.facts.sizeBytes);
    if (!this.#here.has({ start: offset, end })) return undefined;
    await using file = await open(this.path, 'r');
    return readAt(file, offset, end - offset);
  }

  /** Fetches what is missing. @param wanted absent = the whole object @throws as `fetchSegments` */
  async fetch(
    signal: AbortSignal,
    {
      wanted,
      ...from
    }: { readonly storage: Storage; readonly location: string; readonly tail?: Buffer | undefined } & {
      readonly wanted: WantedBytes | undefined;
    },
  ): Promise<void> {
    const plan = this.#plan(wanted);
    if (this.#missing(plan).length > 0) await this.#readJournal();
    const segments = this.#missing(plan);
    if (segments.length === 0) return;
    await using file = await open(this.path, 'r+');
    const source = { tail: undefined, ...from, facts: this.facts };
    const pieces = await fetchSegments(signal, file, source, { ...plan, segments });
    this.#here.add(pieces.map(({ at, length }) => ({ start: at, end: at + length })));
    this.#unwritten.push(...pieces);
    await this.#writeJournal();
  }

  /** The segments that are wanted. Bytes that cannot be compared with a checksum of theirs come with the whole object, which can. */
  #plan(wanted: WantedBytes | undefined): WantedSegments {
    const { sizeBytes, checksums } = this.facts;
    const whole = { borders: Float64Array.of(0, sizeBytes), segments: [0], sums: checksums && [checksums.crc] };
    if (wanted === undefined || wanted.borders.at(-1) !== sizeBytes) return whole;
    if (checksums === null) {
      return { borders: wanted.borders, segments: segmentsWith(wanted.borders, wanted.ranges), sums: null };
    }
    const borders = checkedBorders(wanted.borders);
    const { segments: sums } = checksums;
    if (sums?.length !== borders.length - 1) return whole;
    return { borders, segments: segmentsWith(borders, wanted.ranges), sums };
  }

  #missing({ borders, segments }: WantedSegments): readonly number[] {
    return segments.filter((i) => !this.#here.has({ start: borders[i] ?? 0, end: borders[i + 1] ?? 0 }));
  }

  /** The file is kept from now on, with a journal that has the facts. */
  async keepJournal(path: string, offset: number): Promise<void> {
    this.#journal = { path, offset };
    await this.#writeJournal();
  }

  async #writeJournal(): Promise<void> {
    if (this.#journal === undefined || this.#unwritten.length === 0) return;
    const pieces = encodePieces(this.#unwritten);
    this.#unwritten = [];
    try {
      // A journal that is gone was one of a copy that is not kept any more.
      await using file = await open(this.#journal.path, constants.O_WRONLY | constants.O_APPEND);
      await file.write(pieces);
    } catch {
      this.#journal = undefined;
    }
  }

  /** Takes notice of what others have fetched since. Bytes that are not those of their record are fetched again. */
  async #readJournal(): Promise<void> {
    const known = this.#journal;
    if (known === undefined) return;
    try {
      await using journal = await open(known.path, 'r');
      const { size } = await journal.stat();
      const { offset } = known;
      const { pieces, length } = decodePieces(await readAt(journal, offset, size - offset));
      // Another fetch of the object may have read it meanwhile.
      known.offset = Math.max(known.offset, offset + length);
      const news = pieces.filter(({ at, length: bytes }) => !this.#here.has({ start: at, end: at + bytes }));
      if (news.length > 0) this.#here.add(await checkedRanges(this.path, news));
    } catch {
      this.#journal = undefined;
    }
  }

  /** A kept file, with what its journal says and its bytes confirm; undefined when they do not fit each other. */
  static async open(path: string, journal: string): Promise<ObjectCopy | undefined> {
    try {
      await using file = await open(journal, 'r');
      const known = decodeFacts(await readAt(file, 0, (await file.stat()).size));
      if (known === undefined || (await sizeOf(path)) !== known.facts.sizeBytes) return undefined;
      const copy = new ObjectCopy(path, known.facts);
      copy.#journal = { path: journal, offset: known.length };
      await copy.#readJournal();
      return copy;
    } catch {
      return undefined;
    }
  }

  /** The same bytes under another name. */
  at(path: string): ObjectCopy {
    const copy = new ObjectCopy(path, this.facts, this.#here);
    copy.#journal = this.#journal;
    return copy;
  }
}

/** Makes a file of holes. @param poison what the holes are filled with in tests, which show so that nobody reads them */
export async function makeHoles(path: string, sizeBytes: number, poison: boolean): Promise<void> {
  await using file = await open(path, 'wx', PRIVATE_FILE_MODE);
  await file.truncate(sizeBytes);
  if (!poison) return;
  const garbage = Buffer.alloc(CHECKED_BYTES, GARBAGE);
  for (let at = 0; at < sizeBytes; at += garbage.length) {
    await file.write(garbage, 0, Math.min(garbage.length, sizeBytes - at), at);
  }
}

const PRIVATE_FILE_MODE = 0o600;
const GARBAGE = 0xa5;

async function checkedRanges(path: string, pieces: readonly Piece[]): Promise<readonly ByteRange[]> {
  await using file = await open(path, 'r');
  const good: ByteRange[] = [];
  for (const { at, length, crc } of pieces) {
    let sum = 0;
    for (let from = at; from < at + length; from += CHECKED_BYTES) {
      sum = crc32(await readAt(file, from, Math.min(CHECKED_BYTES, at + length - from)), sum);
    }
    if (sum === crc) good.push({ start: at, end: at + length });
  }
  return good;
}

const sizeOf = async (path: string): Promise<number> => (await stat(path)).size;

async function readAt(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafeSlow(Math.max(0, length));
  let done = 0;
  while (done < buffer.length) {
    const { bytesRead } = await file.read(buffer, done, buffer.length - done, offset + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return buffer.subarray(0, done);
}
