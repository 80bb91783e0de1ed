import { promisify } from 'node:util';
import { gunzip, zstdDecompress } from 'node:zlib';
import { SkeinError } from '#shared/error.ts';
import { parseJson, type Json } from '#shared/json.ts';
import { checkJson } from '../commit/check-json.ts';

/** JSON values of one request: a create of 100,000 columns has fewer. */
const VALUES_MAX = 500_000;

type Decompress = (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const DECOMPRESS: ReadonlyMap<string, Decompress> = new Map([
  ['gzip', promisify(gunzip) as Decompress],
  ['x-gzip', promisify(gunzip) as Decompress],
  ['zstd', promisify(zstdDecompress) as Decompress],
]);

/**
 * The bytes of a request's body as its `Content-Encoding` says; `bytesMax` is the limit of what they unpack to.
 * @throws INVALID_REQUEST, PAYLOAD_TOO_LARGE
 */
export async function decodeBody(body: Buffer, encoding: string | undefined, bytesMax: number): Promise<Buffer> {
  const name = encoding?.trim().toLowerCase() ?? '';
  if (name === '' || name === 'identity' || body.length === 0) return body;
  const decompress = DECOMPRESS.get(name);
  if (decompress === undefined) {
    throw new SkeinError('INVALID_REQUEST', `Content-Encoding ${encoding} is not served: gzip and zstd are`);
  }
  try {
    return await decompress(body, { maxOutputLength: bytesMax });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      throw new SkeinError('PAYLOAD_TOO_LARGE', `the request body is longer than ${bytesMax} bytes`);
    }
    throw new SkeinError('INVALID_REQUEST', `Malformed request: the body is not ${name}`, { cause: error });
  }
}

/** A decoded body as JSON; undefined when it is empty. @throws INVALID_REQUEST */
export function parseBody(bytes: Buffer): Json | undefined {
  if (bytes.length === 0) return undefined;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    checkJson(text, VALUES_MAX);
    return parseJson(text);
  } catch (error) {
    if (error instanceof SkeinError) throw error;
    throw new SkeinError('INVALID_REQUEST', `Malformed request: ${(error as Error).message}`, { cause: error });
  }
}
