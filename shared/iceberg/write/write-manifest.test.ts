import avro from 'avsc';
import { describe, expect, test } from 'vitest';
import { limitsHere } from '../decode-limits.ts';
import type { ManifestFile } from '../manifest.ts';
import type { PartitionSpec } from '../partition-spec.ts';
import { readManifestList } from '../read-manifest.ts';
import type { Schema } from '../schema.ts';
import type { NewDataFile } from './data-file.ts';
import { encodeManifestList } from './write-manifest-list.ts';
import { encodeManifests, ManifestEncoder, type EncodedManifest, type ManifestTarget } from './write-manifest.ts';

const schema: Schema = {
  schemaId: 3,
  fields: [{ id: 1, name: 'at', required: false, type: { kind: 'timestamp_ns' } }],
  identifierFieldIds: [],
};
const spec: PartitionSpec = {
  specId: 7,
  fields: [{ fieldId: 1000, name: 'at', sourceId: 1, transform: { kind: 'identity' } }],
};
const target = (formatVersion: 2 | 3): ManifestTarget => ({ formatVersion, schema, spec, snapshotId: 5n });
const dataFile = (i: number): NewDataFile => ({
  path: `file:///w/${i}.parquet`,
  recordCount: 10,
  sizeBytes: 100,
  partition: [i === 1 ? null : BigInt(i)],
  columnSizes: new Map([[1, i]]),
  valueCounts: new Map([[1, 10]]),
  nullCounts: new Map([[1, 0]]),
  nanCounts: new Map(),
  lower: new Map([[1, Buffer.alloc(8, i)]]),
  upper: new Map([[1, Buffer.alloc(8, i)]]),
  splitOffsets: [4],
});

type Row = Readonly<Record<string, unknown>>;
const fileOf = (row: Row | undefined): Row => row?.['data_file'] as Row;

/** Decodes a file with another Avro library; returns its rows and its header. */
async function decode(bytes: Uint8Array): Promise<{ rows: Row[]; metadata: Record<string, Buffer> }> {
  const decoder = new avro.streams.BlockDecoder({
    parseHook: (read) => avro.Type.forSchema(read, { wrapUnions: false }),
  });
  const rows: Row[] = [];
  let metadata: Record<string, Buffer> = {};
  decoder.on('metadata', (_type: unknown, _codec: unknown, header: { meta: Record<string, Buffer> }) => {
    metadata = header.meta;
  });
  decoder.on('data', (row: Row) => rows.push(row));
  const ended = new Promise((resolve) => decoder.on('end', resolve));
  decoder.end(bytes);
  await ended;
  return { rows, metadata };
}

describe('manifests', () => {
  test('of many files are several of about the target size: every file once, in order, with the sums of its manifest', async () => {
    const files = Array.from({ length: 3_000 }, (_, i) => dataFile(i));
    const made: EncodedManifest[] = [];
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 0);
    for await (const one of encodeManifests(target(2), files, { targetBytes: 40_000 })) made.push(one);
    clearInterval(timer);
    expect(turns).toBeGreaterThan(5);
    expect(made.length).toBeGreaterThan(3);
    const paths: string[] = [];
    for (const { bytes, entry } of made) {
      const { rows } = await decode(bytes);
      expect(bytes.length).toBeLessThan(50_000);
      expect([entry.addedFiles, entry.addedRows]).toStrictEqual([rows.length, rows.length * 10]);
      paths.push(...rows.map((row) => fileOf(row)['file_path'] as string));
    }
    expect(paths).toStrictEqual(files.map(({ path }) => path));
    expect(made[0]?.entry.partitions).toMatchObject([{ containsNull: true, lower: Uint8Array.from(Buffer.alloc(8)) }]);
    expect(made[1]?.entry.partitions).toMatchObject([{ containsNull: false }]);
  });

  test('of no files are none', async () => {
    for await (const _one of encodeManifests(target(2), [], { targetBytes: 1 })) expect.unreachable();
  });

  test.each([2, 3] as const)(
    'of format version %s say so, and leave numbers and row ids to be inherited',
    async (version) => {
      const encoder = new ManifestEncoder(target(version));
      encoder.add(dataFile(1));
      encoder.add(dataFile(2));
      const { rows, metadata } = await decode(encoder.end().bytes);
      expect(metadata['format-version']?.toString()).toBe(String(version));
      expect(metadata['partition-spec-id']?.toString()).toBe('7');
      expect(rows.map((row) => (fileOf(row)['partition'] as Row)['at'])).toStrictEqual([null, 2]);
      expect(rows[0]).toMatchObject({ status: 1, snapshot_id: 5, sequence_number: null, file_sequence_number: null });
      expect(fileOf(rows[0])['first_row_id']).toBe(version === 2 ? undefined : null);
    },
  );
});

describe('a manifest list of format version 3', () => {
  const entry = (manifest: Partial<ManifestFile>): ManifestFile => ({
    ...new ManifestEncoder(target(3)).end().entry,
    path: 'file:///m',
    lengthBytes: 1,
    addedFiles: 1,
    ...manifest,
  });
  const ids = { snapshotId: 5n, parentSnapshotId: 4n, sequenceNumber: 9n, firstRowId: 1_000n };

  test('gives the next row ids to data manifests that have none, also to those of before the upgrade', async () => {
    const { bytes, addedRows } = encodeManifestList(3, ids, [
      entry({ addedRows: 30 }),
      entry({ addedSnapshotId: 1n, sequenceNumber: 2n, firstRowId: 500n, addedRows: 7 }),
      entry({ addedSnapshotId: 2n, sequenceNumber: 3n, addedRows: 5, existingRows: 4 }),
      entry({ addedSnapshotId: 3n, sequenceNumber: 4n, content: 'deletes', addedRows: 2 }),
      entry({ addedRows: 1 }),
    ]);
    expect(addedRows).toBe(40n);
    const { rows, metadata } = await decode(bytes);
    expect(rows.map((row) => row['first_row_id'])).toStrictEqual([1_000, 500, 1_030, null, 1_039]);
    expect(metadata['first-row-id']?.toString()).toBe('1000');
    const { value } = await readManifestList({ read: () => Promise.resolve(bytes) }, 'l', limitsHere());
    expect(value.map(({ sequenceNumber, firstRowId }) => [sequenceNumber, firstRowId])).toStrictEqual([
      [9n, 1_000n],
      [2n, 500n],
      [3n, 1_030n],
      [4n, undefined],
      [9n, 1_039n],
    ]);
  });

  test('keeps ids beyond what a double holds', () => {
    const firstRowId = 2n ** 62n + 1n;
    const { bytes } = encodeManifestList(3, { ...ids, firstRowId }, [entry({ addedRows: 1 })]);
    return expect(readManifestList({ read: () => Promise.resolve(bytes) }, 'l', limitsHere())).resolves.toMatchObject({
      value: [{ firstRowId }],
    });
  });
});
