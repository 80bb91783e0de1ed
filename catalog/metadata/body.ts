import { promisify } from 'node:util';
import { gunzip, zstdDecompress } from 'node:zlib';
import { SkeinError } from '#shared/error.ts';
import { checkJson } from '#shared/check-json.ts';
import { parseJson, type Json } from '#shared/json.ts';

/** Maximum number of JSON values in one request; a create of 100,000 columns has fewer. */
const VALUES_MAX = 500_000;
/** Maximum number of JSON values in a request that a worker parses: the main thread takes 25 ms to rebuild their objects. */
const VALUES_SENT_MAX = 50_000;
/**
 * Limit of an unpacked body: this many bytes, plus the factor below times the packed size. Typical client text packs by a factor of 5 to
 * 30.
 */
const UNPACKED_BYTES_MIN = 4 * 2 ** 20;
const UNPACKED_FACTOR_MAX = 100;

type Decompress = (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const DECOMPRESS: ReadonlyMap<string, Decompress> = new Map([
  ['gzip', promisify(gunzip) as Decompress],
  ['x-gzip', promisify(gunzip) as Decompress],
  ['zstd', promisify(zstdDecompress) as Decompress],
]);

/** Whether a `Content-Encoding` header says that the body is compressed. */
export const isPacked = (encoding = ''): boolean => !['', 'identity'].includes(encoding.trim().toLowerCase());

/**
 * Unpacks a request's body according to its `Content-Encoding`; it stops at the limit of `bytesMax` unpacked bytes.
 * @throws INVALID_REQUEST, PAYLOAD_TOO_LARGE
 */
export async function unpackBody(body: Buffer, encoding: string, bytesMax: number): Promise<Buffer> {
  const name = encoding.trim().toLowerCase();
  const decompress = DECOMPRESS.get(name);
  if (decompress === undefined) {
    const shown = encoding.slice(0, 100);
    throw new SkeinError('INVALID_REQUEST', `Content-Encoding ${shown} is not served: gzip and zstd are`);
  }
  const unpackedMax = Math.min(bytesMax, UNPACKED_BYTES_MIN + body.length * UNPACKED_FACTOR_MAX);
  try {
    return await decompress(body, { maxOutputLength: unpackedMax });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE') {
      throw new SkeinError('INVALID_REQUEST', `Malformed request: the body is not ${name}`, { cause: error });
    }
    const why = unpackedMax === bytesMax ? 'is longer' : 'unpacks to more';
    throw new SkeinError('PAYLOAD_TOO_LARGE', `the request body ${why} than ${unpackedMax} bytes`);
  }
}

/** An unpacked body as JSON; undefined when it is empty. @throws INVALID_REQUEST */
export function parseBody(bytes: Uint8Array, valuesMax = VALUES_MAX): Json | undefined {
  if (bytes.length === 0) return undefined;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    checkJson(text, valuesMax);
    return parseJson(text);
  } catch (error) {
    if (error instanceof SkeinError) throw error;
    throw new SkeinError('INVALID_REQUEST', `Malformed request: ${(error as Error).message}`, { cause: error });
  }
}

export const parseBodyOfFew = (bytes: Uint8Array): Json | undefined => parseBody(bytes, VALUES_SENT_MAX);
