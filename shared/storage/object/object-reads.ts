import { setTimeout as sleep } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { FileNotFound, FileReplaced, FileTooLarge } from '#shared/storage/storage.ts';
import {
  EMPTY_RANGE,
  PART,
  type ObjectFacts,
  type ObjectStore,
  type ReadAnswer,
  type Reading,
} from './object-store.ts';
import { AnswerTooLarge } from './send-request.ts';
import { isMissing, storageError } from './store-error.ts';

/** Reads of objects: a body that ends early is gone on with where it ended, and only in the object that was opened. */

type Reads = Pick<ObjectStore, 'get' | 'head' | 'mayRepeat' | 'hasTails'>;

/** How often the rest of a cut body is asked for without a byte of progress. */
const CUTS_MAX = 6;
const CUT_WAIT_MS = 50;
/** An error's text, which may be longer than a short range. */
const ERROR_BYTES_MAX = 65_536;

/** Reads a whole object. @throws FileTooLarge, FileNotFound, STORAGE_ERROR */
export async function readObject(store: Reads, location: string, bytesMax: number): Promise<Buffer> {
  try {
    for (;;) {
      const { body, isRight } = await readWhole(store, location, bytesMax);
      if (isRight) return body;
      if (!store.mayRepeat()) throw new Error('the bytes are not those that were written');
    }
  } catch (error) {
    if (error instanceof AnswerTooLarge) throw new FileTooLarge(location, bytesMax);
    throw readError(location, error);
  }
}

async function readWhole(
  store: Reads,
  location: string,
  bytesMax: number,
): Promise<{ readonly body: Buffer; readonly isRight: boolean }> {
  const first = await getRange(store, location, { range: null, etag: null, bytesMax });
  const { promisedBytes } = first;
  // A list of pieces may end anywhere when nobody has said how many there are.
  const sizeBytes = promisedBytes ?? (first.isCut ? bytesMax + 1 : first.body.length);
  if (sizeBytes > bytesMax && promisedBytes !== undefined) throw new FileTooLarge(location, bytesMax);
  const crc = first.facts.checksums?.crc;
  const isRight = (body: Buffer): boolean =>
    crc === undefined ? (first.isWhole?.(body) ?? true) : crc32(body) === crc;
  if (!first.isCut) {
    if (first.body.length > bytesMax) throw new FileTooLarge(location, bytesMax);
    return { body: first.body, isRight: isRight(first.body) };
  }
  const range = { begin: first.body.length, end: sizeBytes, etag: first.facts.etag };
  const body = Buffer.concat([first.body, await readRest(store, location, range)]);
  if (body.length > bytesMax) throw new FileTooLarge(location, bytesMax);
  return { body, isRight: isRight(body) };
}

type Range = {
  readonly begin: number;
  readonly end: number;
  /** null = of whatever is there */ readonly etag: string | null;
};

/** Reads bytes `[begin, end)` of an object; fewer where it ends. @throws FileNotFound, STORAGE_ERROR */
export async function readRange(store: Reads, location: string, range: Range): Promise<Buffer> {
  if (range.end <= range.begin) return Buffer.alloc(0);
  try {
    return await readRest(store, location, range);
  } catch (error) {
    throw readError(location, error);
  }
}

/** Opens an object by reading its last bytes. @throws FileNotFound, STORAGE_ERROR */
export async function readTail(
  store: Reads,
  location: string,
  tailBytes: number,
): Promise<ObjectFacts & { readonly tail: Buffer }> {
  try {
    if (tailBytes > 0 && store.hasTails) {
      const answer = await getRange(store, location, { range: { tail: tailBytes }, etag: null, bytesMax: Infinity });
      if (answer.status !== EMPTY_RANGE) return await wholeTail(store, location, { answer, tailBytes });
    }
    const facts = await store.head(location);
    if (facts === undefined) throw new FileNotFound(location);
    const { sizeBytes: end, etag } = facts;
    const begin = Math.max(0, end - tailBytes);
    const tail =
      store.hasTails || begin === end ? Buffer.alloc(0) : await readRest(store, location, { begin, end, etag });
    return { ...facts, tail };
  } catch (error) {
    throw readError(location, error);
  }
}

async function wholeTail(
  store: Reads,
  location: string,
  { answer, tailBytes }: { readonly answer: ReadAnswer; readonly tailBytes: number },
): Promise<ObjectFacts & { readonly tail: Buffer }> {
  const { facts, body } = answer;
  const whole = Math.min(tailBytes, facts.sizeBytes);
  if (answer.status !== PART) return { ...facts, tail: body.subarray(Math.max(0, body.length - whole)) };
  const begin = facts.sizeBytes - whole + body.length;
  const rest = await readRest(store, location, { begin, end: facts.sizeBytes, etag: facts.etag });
  return { ...facts, tail: rest.length === 0 ? body : Buffer.concat([body, rest]) };
}

async function readRest(store: Reads, location: string, { begin, end, etag: known }: Range): Promise<Buffer> {
  const parts: Buffer[] = [];
  let etag = known;
  let at = begin;
  for (let cuts = 0; at < end;) {
    const answer = await getRange(store, location, { range: { begin: at, end }, etag, bytesMax: end - at });
    if (answer.status === EMPTY_RANGE) break;
    const body = answer.status === PART ? answer.body : answer.body.subarray(at, end);
    etag ||= answer.facts.etag;
    const { given } = answer;
    if (given !== undefined && given.begin !== at) throw new Error('the store gave another range than was asked for');
    parts.push(body);
    const whole = given === undefined ? at + body.length : Math.min(end, given.end);
    at += body.length;
    if (!answer.isCut && at >= whole) break;
    cuts = body.length === 0 ? cuts + 1 : 0;
    if (cuts > CUTS_MAX || !store.mayRepeat()) throw new Error('the answers end early');
    await sleep(CUT_WAIT_MS * 2 ** cuts * Math.random());
  }
  return parts.length === 1 ? (parts[0] ?? Buffer.alloc(0)) : Buffer.concat(parts);
}

const getRange = (store: Reads, location: string, reading: Reading): Promise<ReadAnswer> =>
  store.get(location, {
    ...reading,
    etag: reading.etag === '' ? null : reading.etag,
    bytesMax: Math.max(reading.bytesMax, ERROR_BYTES_MAX),
  });

function readError(location: string, error: unknown): Error {
  if (error instanceof FileNotFound || error instanceof FileTooLarge) return error;
  if (isMissing(error)) return new FileNotFound(location);
  if ((error as { status?: unknown }).status === 412) return new FileReplaced(location, error);
  return storageError(location, error);
}
