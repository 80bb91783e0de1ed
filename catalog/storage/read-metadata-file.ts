import { gunzipSync } from 'node:zlib';
import { SkeinError } from '#shared/error.ts';
import { parseJson, type Json } from '#shared/json.ts';
import { FileNotFound } from '#shared/storage/file-io.ts';
import type { CatalogContext } from '../context.ts';
import { checkJson } from '../commit/check-json.ts';
import { requireBelowRoot } from './table-location.ts';

/** JSON values of one file: 64 MB of real metadata have fewer. */
const VALUES_MAX = 2_000_000;

/**
 * The document of a table's or view's metadata file below a catalog's roots.
 * @throws INVALID_REQUEST; TABLE_METADATA_MISSING when the file is not there.
 */
export async function readMetadataFile(context: CatalogContext, file: string, roots: readonly string[]): Promise<Json> {
  requireBelowRoot(file, roots);
  try {
    const bytesMax = context.config['catalog.metadata_bytes_max'];
    if ((await context.io.sizeBytes(file)) > bytesMax) {
      throw new SkeinError('INVALID_REQUEST', `the metadata file is larger than ${bytesMax} bytes`);
    }
    const text = unpack(Buffer.from(await context.io.read(file)), bytesMax).toString();
    checkJson(text, VALUES_MAX);
    return parseJson(text);
  } catch (error) {
    if (error instanceof FileNotFound) {
      throw new SkeinError('TABLE_METADATA_MISSING', `Failed to open input stream for file: ${file}`, { cause: error });
    }
    if (error instanceof SyntaxError || error instanceof RangeError || isZlibError(error)) {
      throw new SkeinError('INVALID_REQUEST', `Cannot parse metadata: ${file}`, { cause: error });
    }
    throw error;
  }
}

/** Engines write `*.gz.metadata.json` when a table asks for it. */
const unpack = (bytes: Buffer, bytesMax: number): Buffer =>
  bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes, { maxOutputLength: bytesMax }) : bytes;

const isZlibError = (error: unknown): boolean => /^(Z_|ERR_BUFFER)/.test(String((error as { code?: unknown }).code));
