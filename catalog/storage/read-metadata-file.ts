import { SkeinError } from '#shared/error.ts';
import { parseJson, type Json } from '#shared/json.ts';
import { FileNotFound } from '#shared/storage/file-io.ts';
import type { CatalogContext } from '../context.ts';
import { requireBelowRoot } from './table-location.ts';

/**
 * The document of a table's or view's metadata file below a catalog's root.
 * @throws INVALID_REQUEST; TABLE_METADATA_MISSING when the file is not there.
 */
export async function readMetadataFile(context: CatalogContext, file: string, root: string): Promise<Json> {
  requireBelowRoot(file, root);
  try {
    const bytesMax = context.config['catalog.metadata_bytes_max'];
    if ((await context.io.sizeBytes(file)) > bytesMax) {
      throw new SkeinError('INVALID_REQUEST', `the metadata file is larger than ${bytesMax} bytes`);
    }
    return parseJson(Buffer.from(await context.io.read(file)).toString());
  } catch (error) {
    if (error instanceof FileNotFound) {
      throw new SkeinError('TABLE_METADATA_MISSING', `Failed to open input stream for file: ${file}`, { cause: error });
    }
    if (error instanceof SyntaxError || error instanceof RangeError) {
      throw new SkeinError('INVALID_REQUEST', `Cannot parse metadata: ${file}`, { cause: error });
    }
    throw error;
  }
}
