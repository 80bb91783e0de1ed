import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SkeinError } from '#shared/error.ts';
import { Inspector } from '#coordinator/inspect/inspector.ts';
import type { CatalogClient } from '#coordinator/catalog-client/catalog-client.ts';
import type { LoadedTable, TableName } from '#coordinator/binding/table-source.ts';
import type { TableReader } from '#shared/iceberg/table-reader.ts';
import { readTableMetadata } from '#shared/iceberg/table-metadata.ts';
import type { PartitionSpec } from '#shared/iceberg/partition-spec.ts';
import { parseSchema } from '#shared/iceberg/schema.ts';
import type { NewDataFile } from '#shared/iceberg/write/data-file.ts';
import type { JsonObject } from '#shared/json.ts';
import { FILE_CREDENTIAL } from './file-credential.ts';
import { newManifestFile, writeManifest, writeManifestList } from './manifest-files.ts';

/** Tables whose manifests are real, in a folder, for tests of what is told about tables. */

/** The operations that `coordinator/api/inspect/inspect-routes.test.ts` compares with the OpenAPI document. */
export const INSPECT_OPERATIONS: readonly string[] = [
  'droppedTables',
  'tableChanges',
  'tableDetails',
  'tableFiles',
  'tableHealth',
  'tableSnapshots',
  'viewVersions',
];

export const DAY_SPEC: PartitionSpec = {
  specId: 0,
  fields: [{ fieldId: 1000, name: 'ts_month', sourceId: 2, transform: { kind: 'month' } }],
};
export const SCHEMA_JSON: JsonObject = {
  type: 'struct',
  'schema-id': 0,
  'identifier-field-ids': [1],
  fields: [
    { id: 1, name: 'id', required: true, type: 'long', doc: 'the <b>key</b>' },
    { id: 2, name: 'ts', required: false, type: 'timestamp' },
    {
      id: 3,
      name: 'address',
      required: false,
      type: {
        type: 'struct',
        fields: [
          { id: 4, name: 'city', required: false, type: 'string', 'write-default': 'Graz' },
          {
            id: 5,
            name: 'lines',
            required: false,
            type: { type: 'list', 'element-id': 6, element: 'string', 'element-required': false },
          },
        ],
      },
    },
  ],
};

/** A snapshot that a test makes: its files by month since 1970. */
export type MadeSnapshot = {
  readonly id: number;
  readonly parent: number | null;
  readonly timestampMs: number;
  readonly sequence: number;
  /** Manifests, each with its files: the month, the rows and the bytes of each. */
  readonly manifests: readonly (readonly (readonly [month: number, rows: number, bytes: number])[])[];
};

/** Writes a table, and returns what a catalog would answer for it. */
export async function inspectedTable(
  folder: string,
  snapshots: readonly MadeSnapshot[],
  more: JsonObject = {},
): Promise<Extract<LoadedTable, { kind: 'found' }>> {
  await mkdir(folder, { recursive: true });
  const schema = parseSchema(SCHEMA_JSON);
  const made: JsonObject[] = [];
  for (const { id, parent, timestampMs, sequence, manifests } of snapshots) {
    const listed = [];
    for (const [i, files] of manifests.entries()) {
      // Manifests with the same files are the same, whichever snapshot has them.
      const name = `m-${i}-${files.map((file) => file.join('.')).join('_')}`.slice(0, 100);
      const data = files.map((file, j) => dataFile(`file://${folder}/data/${name}-${j}.parquet`, file));
      const bytes = writeManifest(schema, DAY_SPEC, 1n, data);
      const path = `file://${folder}/${name}.avro`;
      await writeFile(join(folder, `${name}.avro`), bytes);
      listed.push(newManifestFile(schema, DAY_SPEC, 1n, { path, lengthBytes: bytes.length, files: data }));
    }
    const list = `file://${folder}/list-${id}.avro`;
    await writeFile(
      join(folder, `list-${id}.avro`),
      writeManifestList({ snapshotId: BigInt(id), parentSnapshotId: null, sequenceNumber: BigInt(sequence) }, listed),
    );
    const files = manifests.flat();
    const total = (at: 1 | 2): string => String(files.reduce((sum, file) => sum + file[at], 0));
    made.push({
      'snapshot-id': id,
      ...(parent === null ? {} : { 'parent-snapshot-id': parent }),
      'sequence-number': sequence,
      'timestamp-ms': timestampMs,
      'manifest-list': list,
      'schema-id': 0,
      summary: {
        operation: 'append',
        'total-records': total(1),
        'total-files-size': total(2),
        'total-data-files': String(files.length),
        'partitions.ts_month=1': 'a value of a row',
      },
    });
  }
  const metadata = readTableMetadata({
    'format-version': 2,
    'table-uuid': folder,
    location: `file://${folder}`,
    'last-sequence-number': 9,
    'last-column-id': 6,
    schemas: [SCHEMA_JSON],
    'current-schema-id': 0,
    'partition-specs': [
      { 'spec-id': 0, fields: [{ name: 'ts_month', transform: 'month', 'source-id': 2, 'field-id': 1000 }] },
    ],
    'default-spec-id': 0,
    'sort-orders': [],
    properties: { owner: 'ann', comment: '<script>alert(1)</script>' },
    snapshots: made,
    ...more,
  });
  return {
    kind: 'found',
    name: { catalog: 'lake', namespace: ['a'], table: 't' },
    version: '1',
    oid: 16_384,
    metadata,
    allowedRoots: [`file://${folder}`],
    actions: new Set(['table.describe', 'table.select']),
    policies: [],
    policyVersion: '',
    credential: FILE_CREDENTIAL,
  };
}

const dataFile = (path: string, [month, rows, bytes]: readonly [number, number, number]): NewDataFile => ({
  path,
  recordCount: rows,
  sizeBytes: bytes,
  partition: [BigInt(month)],
  columnSizes: new Map(),
  valueCounts: new Map(),
  nullCounts: new Map(),
  nanCounts: new Map(),
  lower: new Map(),
  upper: new Map(),
  splitOffsets: [4],
});

/** An inspector over a catalog that has one table, or view, at a time. */
export const inspectorOf = (
  tables: Pick<TableReader, 'sums' | 'changes'>,
  found: (name: TableName) => LoadedTable,
  sumsBytesMax = 2 ** 20,
): Inspector =>
  new Inspector({
    catalog: {
      listDropped,
      async *listTables() {
        yield [];
      },
      tablesFor: () => ({ loadTables: (names: readonly TableName[]) => Promise.resolve(names.map(found)) }),
    } as unknown as CatalogClient,
    tables,
    sumsBytesMax,
    bookmarkKeys: [],
    nowMs: () => Date.UTC(2026, 0, 1),
  });

/** One table that was dropped, of a catalog `lake`. */
const listDropped: CatalogClient['listDropped'] = (_principal, catalog) => {
  if (catalog !== 'lake')
    return Promise.reject(new SkeinError('CATALOG_NOT_FOUND', `catalog ${catalog} does not exist`));
  const time = '2026-01-01T00:00:00.000Z';
  const told = { state: 'dropped', dropped_at: time, dropped_by: 'ann', expires_at: time, purge: true, error: '' };
  return Promise.resolve({ tables: [{ id: 'd', namespace: ['a', 'b'], name: 't', ...told }], more: true });
};

const noFiles = (): never => {
  throw new Error('the test has no files');
};

/** An inspector that finds nothing. */
export const noTables = (): Inspector =>
  inspectorOf({ sums: noFiles, changes: noFiles }, () => ({ kind: 'missing', code: 'TABLE_NOT_FOUND' }));
