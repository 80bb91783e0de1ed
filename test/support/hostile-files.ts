import { writeAvroFile } from '#shared/iceberg/avro/write-container.ts';
import { manifestSchema } from '#shared/iceberg/manifest-schema.ts';
import { newManifestFile, writeManifestList } from '#test/support/manifest-files.ts';
import { fileStorage } from '#test/support/file-storage.ts';
import { SCHEMA, setMain, snapshot } from './catalog-requests.ts';
import type { CatalogPost } from './hostile-table.ts';

/** A file of a table, as its manifest has it. */
export type ListedFile = {
  readonly path: string;
  readonly sizeBytes: number;
  readonly content: 'data' | 'position-deletes';
  /** A deletion vector of a data file, from the first byte of its own file to the last. */
  readonly vector?: { readonly dataFile: string; readonly cardinality: number };
};

/** Makes a table of one column, `a BIGINT`, in the namespace `default`; `write` puts its files below its location. */
export async function createTableOfFiles(
  post: CatalogPost,
  name: string,
  write: (location: string) => Promise<readonly ListedFile[]>,
): Promise<void> {
  const created = await post('/namespaces/default/tables', {
    name,
    schema: SCHEMA,
    properties: { 'format-version': '3' },
  });
  const { location } = created['metadata'] as { location: string };
  const files = await write(location);
  const listed = [];
  for (const content of ['data', 'deletes'] as const) {
    const some = files.filter((file) => (file.content === 'data') === (content === 'data'));
    const bytes = writeAvroFile(ENTRY_SCHEMA, METADATA, some.map(entryRow));
    const path = `${location}/metadata/${content}.avro`;
    await fileStorage.write(path, bytes);
    const entry = newManifestFile(NO_COLUMNS, UNPARTITIONED, 1n, { path, lengthBytes: bytes.length, files: [] });
    if (some.length > 0) listed.push({ ...entry, content, addedFiles: some.length, firstRowId: 0n });
  }
  const ids = { snapshotId: 1n, parentSnapshotId: null, sequenceNumber: 1n };
  await fileStorage.write(`${location}/metadata/snap.avro`, writeManifestList(ids, listed));
  await post(`/namespaces/default/tables/${name}`, { updates: [withRowIds(snapshot(location, 1)), setMain(1)] });
}

const NO_COLUMNS = { schemaId: 0, fields: [], identifierFieldIds: [] };
const UNPARTITIONED = { specId: 0, fields: [] };
const METADATA = { 'format-version': '2' };

const withRowIds = (update: object): object => {
  const { snapshot: added, ...rest } = update as { readonly snapshot: object };
  return { ...rest, snapshot: { ...added, 'first-row-id': 0, 'added-rows': 0 } };
};

const ENTRY_SCHEMA = manifestSchema([], 3);

const entryRow = ({ path, sizeBytes, content, vector }: ListedFile): object => ({
  status: 1,
  snapshot_id: null,
  sequence_number: null,
  file_sequence_number: null,
  data_file: {
    content: content === 'data' ? 0 : 1,
    file_path: path,
    file_format: vector === undefined ? 'PARQUET' : 'PUFFIN',
    partition: {},
    record_count: vector?.cardinality ?? 1,
    file_size_in_bytes: sizeBytes,
    column_sizes: null,
    value_counts: null,
    null_value_counts: null,
    nan_value_counts: null,
    lower_bounds: null,
    upper_bounds: null,
    key_metadata: null,
    split_offsets: null,
    equality_ids: null,
    sort_order_id: null,
    first_row_id: null,
    referenced_data_file: vector?.dataFile ?? null,
    content_offset: vector === undefined ? null : 0,
    content_size_in_bytes: vector === undefined ? null : sizeBytes,
  },
});
