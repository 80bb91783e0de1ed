import type { Frames } from '#shared/thread/frames.ts';
import type { WorkCall, WorkPool } from '#shared/thread/work-pool.ts';
import { work } from '#shared/thread/work.ts';
import { unpackMetadata, type MetadataPart } from './metadata-parts.ts';
import { parseTableMetadata, type TableMetadata } from './table-metadata.ts';

/** Documents up to this size are parsed on the calling thread, within 20 ms. */
const BYTES_HERE_MAX = 2 ** 20;

const METADATA = work<string, Frames<MetadataPart>>(
  new URL('./read-in-thread.ts', import.meta.url),
  'metadataInThread',
);

/** Like `parseTableMetadata`, but a worker thread parses a large document. @throws as `parseTableMetadata` and `WorkPool.run` */
export async function parseLargeMetadata(pool: WorkPool, text: string, call: WorkCall): Promise<TableMetadata> {
  if (text.length <= BYTES_HERE_MAX) return parseTableMetadata(text);
  return unpackMetadata(await pool.run(METADATA, text, call));
}
