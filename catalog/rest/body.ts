import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { SkeinError } from '#shared/error.ts';
import { parseJson, type Json } from '#shared/json.ts';

const gunzipBuffer = promisify(gunzip);

/** Deepest nesting of a JSON body: parsers and printers recurse. */
const DEPTH_MAX = 200;

/**
 * A request's body as JSON; undefined when it is empty. `bytesMax` is also the limit of what gzip unpacks.
 * @throws INVALID_REQUEST, PAYLOAD_TOO_LARGE
 */
export async function readBody(
  body: Buffer,
  encoding: string | undefined,
  bytesMax: number,
): Promise<Json | undefined> {
  const bytes = await decode(body, encoding, bytesMax);
  if (bytes.length === 0) return undefined;
  const text = bytes.toString('utf8');
  checkDepth(text);
  try {
    return parseJson(text);
  } catch (error) {
    throw new SkeinError('INVALID_REQUEST', `Malformed request: ${(error as Error).message}`, { cause: error });
  }
}

async function decode(body: Buffer, encoding: string | undefined, bytesMax: number): Promise<Buffer> {
  if (encoding === undefined || encoding === '' || encoding === 'identity') return body;
  if (encoding !== 'gzip' && encoding !== 'x-gzip') {
    throw new SkeinError('INVALID_REQUEST', `Content-Encoding ${encoding} is not served: gzip is`);
  }
  try {
    return await gunzipBuffer(body, { maxOutputLength: bytesMax });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      throw new SkeinError('PAYLOAD_TOO_LARGE', `the request body is longer than ${bytesMax} bytes`);
    }
    throw new SkeinError('INVALID_REQUEST', 'Malformed request: the body is not gzip', { cause: error });
  }
}

/** Counts brackets outside of strings, without parsing. */
function checkDepth(text: string): void {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < text.length; i += 1) {
    const char = text.charCodeAt(i);
    if (inString) {
      if (char === 0x5c) i += 1;
      else if (char === 0x22) inString = false;
    } else if (char === 0x22) inString = true;
    else if (char === 0x7b || char === 0x5b) {
      depth += 1;
      if (depth > DEPTH_MAX)
        throw new SkeinError('INVALID_REQUEST', `Malformed request: nested deeper than ${DEPTH_MAX}`);
    } else if (char === 0x7d || char === 0x5d) depth -= 1;
  }
}
