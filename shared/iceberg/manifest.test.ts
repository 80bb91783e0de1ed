import avro from 'avsc';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FileNotFound, type FileReader } from '#shared/storage/storage.ts';
import { AvroCursor } from './avro/avro-cursor.ts';
import { writeAvroFile } from './avro/write-container.ts';
import { limitsHere } from './decode-limits.ts';
import { columnStats, type ManifestEntry, type ManifestFile } from './manifest.ts';
import type { PartitionSpec } from './partition-spec.ts';
import { readManifest, readManifestList } from './read-manifest.ts';
import type { Schema } from './schema.ts';
import { decodeBound, encodeBound } from './single-value.ts';
import type { Field, IcebergType } from './type.ts';
import type { NewDataFile } from './write/data-file.ts';
import { newManifestFile, writeManifest, writeManifestList } from '#test/support/manifest-files.ts';

const filesIo = (files: ReadonlyMap<string, Uint8Array>): FileReader => {
  const get = (uri: string): Uint8Array => {
    const bytes = files.get(uri);
    if (bytes === undefined) throw new FileNotFound(uri);
    return bytes;
  };
  return {
    read: async (uri) => get(uri),
  };
};

/** Returns all entries of the manifest `m`. */
async function entriesOf(io: FileReader, manifest: ManifestFile): Promise<readonly ManifestEntry[]> {
  const found: ManifestEntry[] = [];
  for await (const { entries } of readManifest(io, manifest, spec, typeOf, limitsHere())) found.push(...entries);
  return found;
}

const field = (id: number, name: string, type: IcebergType): Field => ({ id, name, required: false, type });
const schema: Schema = {
  schemaId: 0,
  identifierFieldIds: [],
  fields: [
    field(1, 'id', { kind: 'long' }),
    field(2, 'a b', { kind: 'string' }),
    field(3, 'amount', { kind: 'decimal', precision: 15, scale: 2 }),
    field(4, 'd', { kind: 'date' }),
    field(5, 'u', { kind: 'uuid' }),
    field(6, 'x', { kind: 'double' }),
  ],
};
const spec: PartitionSpec = {
  specId: 3,
  fields: schema.fields.map((column) => ({
    fieldId: 999 + column.id,
    name: `${column.name} identity`,
    sourceId: column.id,
    transform: { kind: 'identity' },
  })),
};
const typeOf = (id: number): IcebergType | undefined => schema.fields.find((one) => one.id === id)?.type;

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const partitions = fc.tuple(
  fc.option(int64),
  fc.option(fc.string({ unit: 'grapheme' })),
  fc.option(fc.bigInt({ min: -(10n ** 15n) + 1n, max: 10n ** 15n - 1n })),
  fc.option(fc.bigInt({ min: -(2n ** 31n), max: 2n ** 31n - 1n })),
  fc.option(fc.uint8Array({ minLength: 16, maxLength: 16 })),
  fc.option(fc.double()),
);
const counts = fc.array(fc.tuple(fc.integer({ min: 1, max: 200 }), fc.nat(2 ** 40))).map((list) => new Map(list));
const newFiles = fc.array(
  fc.record<NewDataFile>({
    path: fc.string().map((text) => `file:///w/${text}`),
    recordCount: fc.nat(2 ** 45),
    sizeBytes: fc.nat(2 ** 50),
    partition: partitions,
    columnSizes: counts,
    valueCounts: counts,
    nullCounts: counts,
    nanCounts: counts,
    lower: fc.constant(new Map([[1, new Uint8Array([1, 0, 0, 0, 0, 0, 0, 0])]])),
    upper: fc.constant(new Map([[2, Buffer.from('zz')]])),
    splitOffsets: fc.array(fc.nat(2 ** 50)),
  }),
  { maxLength: 5 },
);

const entryOf = (manifest: Partial<ManifestFile>): ManifestFile => ({
  ...newManifestFile(schema, spec, 77n, { path: 'm', lengthBytes: 1, files: [] }),
  ...manifest,
});

test('manifests come back as they were written, and inherit sequence numbers', async () => {
  await fc.assert(
    fc.asyncProperty(newFiles, int64, async (files, snapshotId) => {
      const io = filesIo(new Map([['m', writeManifest(schema, spec, snapshotId, files)]]));
      const value = await entriesOf(io, entryOf({ sequenceNumber: 9n }));
      expect(
        value.map(({ snapshotId: id, sequenceNumber, status, file }) => ({
          id,
          sequenceNumber,
          status,
          path: file.path,
          rows: file.recordCount,
          bytes: file.sizeBytes,
          partition: file.partition.map((one) => (one instanceof Uint8Array ? Uint8Array.from(one) : one)),
          offsets: file.splitOffsets,
          nulls: Array.from({ length: 201 }, (_, id) => file.stats.nullCounts?.find(id)),
          bounds: columnStats(file.stats, 1, typeOf(1)).lower,
          upper: columnStats(file.stats, 2, typeOf(2)).upper,
        })),
      ).toStrictEqual(
        files.map((file) => ({
          id: snapshotId,
          sequenceNumber: 9n,
          status: 'added',
          path: file.path,
          rows: file.recordCount,
          bytes: file.sizeBytes,
          partition: file.partition,
          offsets: file.splitOffsets,
          nulls: Array.from({ length: 201 }, (_, id) => file.nullCounts.get(id)),
          bounds: 1n,
          upper: 'zz',
        })),
      );
    }),
    { numRuns: 60 },
  );
});

test('manifest lists come back as they were written; new manifests get the sequence number', async () => {
  await fc.assert(
    fc.asyncProperty(newFiles, int64, async (files, snapshotId) => {
      const made = newManifestFile(schema, spec, snapshotId, { path: 'file:///m', lengthBytes: 5, files });
      const old = { ...made, addedSnapshotId: snapshotId ^ 1n, sequenceNumber: 4n, minSequenceNumber: 2n };
      const bytes = writeManifestList({ snapshotId, parentSnapshotId: null, sequenceNumber: 8n }, [made, old]);
      const { value } = await readManifestList(filesIo(new Map([['l', bytes]])), 'l', limitsHere());
      const plain = (one: ManifestFile): object => ({
        ...one,
        partitions: one.partitions?.map((part) => ({
          ...part,
          lower: part.lower && Uint8Array.from(part.lower),
          upper: part.upper && Uint8Array.from(part.upper),
        })),
      });
      expect(value.map(plain)).toStrictEqual([{ ...made, sequenceNumber: 8n, minSequenceNumber: 8n }, old].map(plain));
    }),
    { numRuns: 30 },
  );
});

test('another Avro library reads what we write', () => {
  const bytes = writeAvroFile({ type: 'record', name: 'r', fields: [{ name: 'a', type: 'int' }] }, { k: 'v' }, [
    { a: 7 },
  ]);
  const decoder = new avro.streams.BlockDecoder();
  const rows: unknown[] = [];
  decoder.on('data', (row: unknown) => rows.push(row));
  const ended = new Promise((resolve) => decoder.on('end', resolve));
  decoder.end(bytes);
  return ended.then(() => expect(rows).toStrictEqual([expect.objectContaining({ a: 7 })]));
});

test('longs of every length are read as another library writes them', () => {
  const long = avro.types.LongType.__with({
    fromBuffer: (bytes: Buffer) => bytes.readBigInt64LE(),
    toBuffer: (value: bigint) => {
      const bytes = Buffer.alloc(8);
      bytes.writeBigInt64LE(value);
      return bytes;
    },
    fromJSON: BigInt,
    toJSON: String,
    isValid: (value: unknown) => typeof value === 'bigint',
    compare: () => 0,
  });
  fc.assert(
    fc.property(fc.oneof(int64, fc.bigInt({ min: -(2n ** 54n), max: 2n ** 54n }), fc.bigInt(-300n, 300n)), (value) => {
      const read = new AvroCursor(long.toBuffer(value)).readLong();
      expect(BigInt(read)).toBe(value);
      expect(typeof read).toBe(Number.isSafeInteger(Number(value)) ? 'number' : 'bigint');
    }),
    { numRuns: 2000 },
  );
});

describe('a manifest that is not whole', () => {
  test('a cut manifest', async () => {
    const whole = writeManifest(schema, spec, 1n, []);
    for (let length = 0; length < whole.length; length += 7) {
      const io = filesIo(new Map([['m', whole.subarray(0, length)]]));
      const read = entriesOf(io, entryOf({}));
      // Without rows, a file that ends between header and blocks is complete.
      if (length < whole.length) await expect(read).rejects.toMatchObject({ code: 'INVALID_TABLE_DATA' });
    }
  });

  test('a missing manifest', async () => {
    await expect(readManifestList(filesIo(new Map()), 'l', limitsHere())).rejects.toMatchObject({
      code: 'INVALID_TABLE_DATA',
    });
  });
});

test.each<[IcebergType, fc.Arbitrary<boolean | bigint | number | string | Uint8Array>]>([
  [{ kind: 'boolean' }, fc.boolean()],
  [{ kind: 'int' }, fc.bigInt({ min: -(2n ** 31n), max: 2n ** 31n - 1n })],
  [{ kind: 'timestamptz' }, int64],
  [{ kind: 'float' }, fc.float()],
  [{ kind: 'double' }, fc.double()],
  [{ kind: 'decimal', precision: 38, scale: 3 }, fc.bigInt({ min: -(10n ** 38n) + 1n, max: 10n ** 38n - 1n })],
  [{ kind: 'string' }, fc.string({ unit: 'binary' })],
  [{ kind: 'binary' }, fc.uint8Array()],
])('bounds of %o come back', (type, values) => {
  fc.assert(
    fc.property(values, (value) => {
      const bytes = encodeBound(type, value) ?? Buffer.alloc(0);
      const back = decodeBound(type, bytes);
      expect(back instanceof Uint8Array ? Uint8Array.from(back) : back).toStrictEqual(value);
    }),
  );
});

test('bounds that were written before a promotion are read as the wider type', () => {
  expect(decodeBound({ kind: 'long' }, Uint8Array.of(255, 255, 255, 255))).toBe(-1n);
  expect(decodeBound({ kind: 'timestamp' }, Uint8Array.of(1, 0, 0, 0))).toBe(86_400_000_000n);
  expect(decodeBound({ kind: 'double' }, encodeBound({ kind: 'float' }, 0.5) ?? Buffer.alloc(0))).toBe(0.5);
  expect(decodeBound({ kind: 'string' }, Uint8Array.of(0x61, 0xc3))).toBeUndefined();
});
