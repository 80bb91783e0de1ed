import { setTimeout as sleep } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { FileNotFound, FileReplaced, FileTooLarge, type Checksums } from '#shared/storage/storage.ts';
import { isMissing, type ObjectAnswer, type S3Client } from './s3-client.ts';
import { checksumsIn, WRITE_ID_HEADER } from './own-headers.ts';
import { storageError } from './s3-error.ts';
import { s3Place, type S3Place } from './s3-object.ts';
import { AnswerTooLarge } from './signed-request.ts';

/** Reads of objects: a body that ends early is gone on with where it ended, and only in the object that was opened. */

/** The facts of an object that its answers tell. */
export type ObjectFacts = {
  readonly sizeBytes: number;
  /** Empty when the store gives none. */
  readonly etag: string;
  readonly modifiedMs: number;
  /** As its writer has computed them; null when it did not. */
  readonly checksums: Checksums | null;
};

/** How often the rest of a cut body is asked for without a byte of progress. */
const CUTS_MAX = 6;
const CUT_WAIT_MS = 50;
/** An error's text, which may be longer than a short range. */
const ERROR_BYTES_MAX = 65_536;

/** Reads a whole object. @throws FileTooLarge, FileNotFound, STORAGE_ERROR */
export async function readObject(client: S3Client, location: string, bytesMax: number): Promise<Buffer> {
  const place = s3Place(location);
  try {
    for (;;) {
      const { body, crc } = await readWhole(client, place, { location, bytesMax });
      if (crc === null || crc32(body) === crc) return body;
      if (!client.mayRepeat()) throw new Error('the bytes are not those that were written');
    }
  } catch (error) {
    if (error instanceof AnswerTooLarge) throw new FileTooLarge(location, bytesMax);
    throw readError(location, error);
  }
}

async function readWhole(
  client: S3Client,
  place: S3Place,
  { location, bytesMax }: { readonly location: string; readonly bytesMax: number },
): Promise<{ readonly body: Buffer; readonly crc: number | null }> {
  const first = await client.send({
    ...place,
    method: 'GET',
    headers: { 'x-amz-checksum-mode': 'ENABLED' },
    answerBytesMax: Math.max(bytesMax, ERROR_BYTES_MAX),
  });
  const length = first.headers['content-length'];
  // A list of pieces may end anywhere when nobody has said how many there are.
  const sizeBytes = length === undefined ? (first.isCut ? bytesMax + 1 : first.body.length) : Number(length);
  if (sizeBytes > bytesMax && length !== undefined) throw new FileTooLarge(location, bytesMax);
  const crc = checksumsIn(first.headers)?.crc ?? storeCrcOf(first);
  if (!first.isCut) {
    if (first.body.length > bytesMax) throw new FileTooLarge(location, bytesMax);
    return { body: first.body, crc };
  }
  const rest = await readRest(client, place, { begin: first.body.length, end: sizeBytes, etag: etagOf(first) });
  const body = Buffer.concat([first.body, rest]);
  if (body.length > bytesMax) throw new FileTooLarge(location, bytesMax);
  return { body, crc };
}

type Range = {
  readonly begin: number;
  readonly end: number;
  /** null = of whatever is there */ readonly etag: string | null;
};

/** Reads bytes `[begin, end)` of an object; fewer where it ends. @throws FileNotFound, STORAGE_ERROR */
export async function readRange(client: S3Client, location: string, range: Range): Promise<Buffer> {
  if (range.end <= range.begin) return Buffer.alloc(0);
  try {
    return await readRest(client, s3Place(location), range);
  } catch (error) {
    throw readError(location, error);
  }
}

/** Opens an object by reading its last bytes. @throws FileNotFound, STORAGE_ERROR */
export async function readTail(
  client: S3Client,
  location: string,
  tailBytes: number,
): Promise<ObjectFacts & { readonly tail: Buffer }> {
  try {
    const place = s3Place(location);
    if (tailBytes > 0) {
      const answer = await getRange(client, place, { range: `bytes=-${tailBytes}`, etag: null, bytesMax: Infinity });
      if (answer.status !== EMPTY_RANGE) {
        const facts = factsOf(answer);
        const whole = Math.min(tailBytes, facts.sizeBytes);
        if (answer.status !== PART)
          return { ...facts, tail: answer.body.subarray(Math.max(0, answer.body.length - whole)) };
        const begin = facts.sizeBytes - whole + answer.body.length;
        const rest = await readRest(client, place, { begin, end: facts.sizeBytes, etag: facts.etag });
        return { ...facts, tail: rest.length === 0 ? answer.body : Buffer.concat([answer.body, rest]) };
      }
    }
    const facts = await headObject(client, location);
    if (facts === undefined) throw new FileNotFound(location);
    return { ...facts, tail: Buffer.alloc(0) };
  } catch (error) {
    throw readError(location, error);
  }
}

/** The facts of an object; undefined when it is not there. @throws STORAGE_ERROR */
export async function headObject(
  client: S3Client,
  location: string,
): Promise<(ObjectFacts & { readonly writeId: string | undefined }) | undefined> {
  try {
    const answer = await client.send({ ...s3Place(location), method: 'HEAD' }, [404]);
    if (answer.status === 404) return undefined;
    return { ...factsOf(answer), writeId: String(answer.headers[WRITE_ID_HEADER] ?? '') || undefined };
  } catch (error) {
    throw storageError(location, error);
  }
}

const PART = 206;
const EMPTY_RANGE = 416;

async function readRest(client: S3Client, place: S3Place, { begin, end, etag: known }: Range): Promise<Buffer> {
  const parts: Buffer[] = [];
  let etag = known;
  let at = begin;
  for (let cuts = 0; at < end;) {
    const answer = await getRange(client, place, { range: `bytes=${at}-${end - 1}`, etag, bytesMax: end - at });
    if (answer.status === EMPTY_RANGE) break;
    const body = answer.status === PART ? answer.body : answer.body.subarray(at, end);
    etag ||= etagOf(answer);
    const given = givenRange(answer);
    if (given !== undefined && given.begin !== at) throw new Error('the store gave another range than was asked for');
    parts.push(body);
    const whole = given === undefined ? at + body.length : Math.min(end, given.end);
    at += body.length;
    if (!answer.isCut && at >= whole) break;
    cuts = body.length === 0 ? cuts + 1 : 0;
    if (cuts > CUTS_MAX || !client.mayRepeat()) throw new Error('the answers end early');
    await sleep(CUT_WAIT_MS * 2 ** cuts * Math.random());
  }
  return parts.length === 1 ? (parts[0] ?? Buffer.alloc(0)) : Buffer.concat(parts);
}

/** Bytes `[begin, end)` that an answer says it has. */
function givenRange({ status, headers }: ObjectAnswer): { readonly begin: number; readonly end: number } | undefined {
  const [, first, last] = /^bytes (\d+)-(\d+)\//.exec(headers['content-range'] ?? '') ?? [];
  return status === PART && first !== undefined ? { begin: Number(first), end: Number(last) + 1 } : undefined;
}

const getRange = (
  client: S3Client,
  place: S3Place,
  { range, etag, bytesMax }: { readonly range: string; readonly etag: string | null; readonly bytesMax: number },
): Promise<ObjectAnswer> =>
  client.send(
    {
      ...place,
      method: 'GET',
      headers: { range, ...(etag === null || etag === '' ? {} : { 'if-match': `"${etag}"` }) },
      answerBytesMax: Math.max(bytesMax, ERROR_BYTES_MAX),
    },
    [EMPTY_RANGE],
  );

function factsOf(answer: ObjectAnswer): ObjectFacts {
  const { headers } = answer;
  const total = /\/(\d+)$/.exec(headers['content-range'] ?? '')?.[1];
  return {
    sizeBytes: Number(total ?? headers['content-length'] ?? answer.body.length),
    etag: etagOf(answer),
    modifiedMs: Date.parse(headers['last-modified'] ?? '') || 0,
    checksums: checksumsIn(headers),
  };
}

/** The checksum of a whole object that the store keeps. That of an object of parts may be one of their checksums: then it has a dash. */
function storeCrcOf({ headers }: ObjectAnswer): number | null {
  const text = String(headers['x-amz-checksum-crc32'] ?? '');
  return /^[A-Za-z0-9+/]{6}==$/.test(text) ? Buffer.from(text, 'base64').readUInt32BE() : null;
}

/** Without its quotes. */
const etagOf = ({ headers }: ObjectAnswer): string => unquoted(headers.etag ?? '');
export const unquoted = (etag: string): string => etag.replace(/^"|"$/g, '');

function readError(location: string, error: unknown): Error {
  if (error instanceof FileNotFound || error instanceof FileTooLarge) return error;
  if (isMissing(error)) return new FileNotFound(location);
  if ((error as { status?: unknown }).status === 412) {
    return new FileReplaced(location, error);
  }
  return storageError(location, error);
}
