import { checkJson } from '#shared/check-json.ts';
import { gunzipSync } from 'node:zlib';
import { SkeinError } from '#shared/error.ts';
import { tooComplex } from '#shared/iceberg/decode-limits.ts';
import { parseJson, type Json } from '#shared/json.ts';
import { FileNotFound, FileTooLarge, type FileReader } from '#shared/storage/storage.ts';

/** Maximum number of JSON values of one file; 64 MB of real metadata have fewer. */
const VALUES_MAX = 2_000_000;

/**
 * Reads and parses the metadata file of a table or view.
 * @throws INVALID_REQUEST when it is no JSON; TABLE_DATA_TOO_COMPLEX when it has more than `bytesMax` bytes, packed or unpacked;
 * TABLE_METADATA_MISSING when the file is not there.
 */
export async function readMetadataFile(storage: FileReader, file: string, bytesMax: number): Promise<Json> {
  try {
    const text = unpack(Buffer.from(await storage.read(file, bytesMax)), bytesMax).toString();
    checkJson(text, VALUES_MAX);
    return parseJson(text);
  } catch (error) {
    if (error instanceof FileNotFound) {
      throw new SkeinError('TABLE_METADATA_MISSING', `Failed to open input stream for file: ${file}`, { cause: error });
    }
    const isLarge = error instanceof FileTooLarge || codeOf(error) === 'ERR_BUFFER_TOO_LARGE';
    if (isLarge) throw tooComplex(`the metadata file is larger than ${bytesMax} bytes`);
    if (error instanceof SyntaxError || error instanceof RangeError || codeOf(error).startsWith('Z_')) {
      throw new SkeinError('INVALID_REQUEST', `Cannot parse metadata: ${file}`, { cause: error });
    }
    throw error;
  }
}

/** Unpacks `*.gz.metadata.json`, which engines write when a table asks for it. */
const unpack = (bytes: Buffer, bytesMax: number): Buffer =>
  bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes, { maxOutputLength: bytesMax }) : bytes;

const codeOf = (error: unknown): string => String((error as { code?: unknown } | undefined)?.code);
