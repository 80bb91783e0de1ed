import { deflateRawSync, inflateRawSync, zstdCompressSync } from 'node:zlib';
import avro from 'avsc';
import { limitsHere } from '#shared/iceberg/decode-limits.ts';
import { columnStats } from '#shared/iceberg/manifest.ts';
import type { PartitionSpec } from '#shared/iceberg/partition-spec.ts';
import { readManifest, readManifestList, readManifestPaths } from '#shared/iceberg/read-manifest.ts';
import type { Schema } from '#shared/iceberg/schema.ts';
import type { IcebergType } from '#shared/iceberg/type.ts';
import type { NewDataFile } from '#shared/iceberg/write/data-file.ts';
import { newManifestFile, writeManifest, writeManifestList } from '#test/support/manifest-files.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { FileNotFound, type FileReader } from '#shared/storage/storage.ts';
import { avroContainer, type RawBlock } from '#test/support/hostile-avro.ts';
import { zigzag } from '#test/support/hostile-parquet.ts';
import type { Decoder } from '../decoder.ts';
import { mutate } from '../mutate.ts';
import type { Random } from '../random.ts';

const TYPES: readonly IcebergType[] = [
  { kind: 'long' },
  { kind: 'string' },
  { kind: 'decimal', precision: 15, scale: 2 },
  { kind: 'date' },
  { kind: 'uuid' },
  { kind: 'double' },
  { kind: 'boolean' },
  { kind: 'timestamptz' },
  { kind: 'binary' },
];
const schema: Schema = {
  schemaId: 0,
  identifierFieldIds: [],
  fields: TYPES.map((type, i) => ({ id: i + 1, name: `c${i}`, required: false, type })),
};
const spec: PartitionSpec = {
  specId: 3,
  fields: TYPES.slice(0, 6).map((_type, i) => ({
    fieldId: 1_000 + i,
    name: `p${i}`,
    sourceId: i + 1,
    transform: { kind: 'identity' },
  })),
};
const typeOf = (id: number): IcebergType | undefined => TYPES[id - 1];

const file: NewDataFile = {
  path: 'file:///w/a.parquet',
  recordCount: 100,
  sizeBytes: 1_000,
  partition: [7n, 'text', -5n, 19_000n, Buffer.alloc(16, 3), 1.5],
  columnSizes: new Map([[1, 10]]),
  valueCounts: new Map([[1, 100]]),
  nullCounts: new Map([[2, 1]]),
  nanCounts: new Map([[6, 0]]),
  lower: new Map([[1, Buffer.alloc(8, 1)]]),
  upper: new Map([[2, Buffer.from('zz')]]),
  splitOffsets: [4, 500],
};

type Unpacked = { readonly schema: string; readonly blocks: readonly RawBlock[] };

/** A file with its blocks unpacked, because changes of packed bytes mostly give noise. */
function unpack(packed: Uint8Array): Unpacked {
  const bytes = Buffer.from(packed);
  const header = avro.Type.forSchema({ type: 'map', values: 'bytes' }).decode(bytes, 4) as Decoded<
    Record<string, Buffer>
  >;
  const long = avro.Type.forSchema('long');
  const count = long.decode(bytes, header.offset + 16) as Decoded<number>;
  const length = long.decode(bytes, count.offset) as Decoded<number>;
  const block = inflateRawSync(bytes.subarray(length.offset, length.offset + length.value));
  return { schema: header.value['avro.schema']?.toString() ?? '', blocks: [{ count: count.value, bytes: block }] };
}

type Decoded<T> = { readonly value: T; readonly offset: number };

const manifest = writeManifest(schema, spec, 77n, [file, file]);
const entry = newManifestFile(schema, spec, 77n, { path: 'm', lengthBytes: manifest.length, files: [file] });
const list = writeManifestList({ snapshotId: 1n, parentSnapshotId: null, sequenceNumber: 1n }, [entry, entry]);

const plain = (packed: Uint8Array): Buffer => {
  const { schema: text, blocks } = unpack(packed);
  return Buffer.from(avroContainer(text, blocks));
};

const holding = (bytes: Uint8Array): FileReader => ({
  read: (uri) => (bytes.length > 0 ? Promise.resolve(bytes) : Promise.reject(new FileNotFound(uri))),
});

const ERRORS = ['INVALID_TABLE_DATA', 'TABLE_DATA_TOO_COMPLEX', 'NOT_SUPPORTED'] as const;

export const MANIFEST_LIST: Decoder = {
  name: 'manifest-list',
  samples: [Buffer.from(list), plain(list)],
  grammar: (random) => drawContainer(random, unpack(list), [500, 501, 502, 503, 507, 509, 510, 515, 517, 519]),
  decode: (input) => readManifestList(holding(input), 'list', limitsHere()),
  errors: ERRORS,
};

export const MANIFEST: Decoder = {
  name: 'manifest',
  samples: [Buffer.from(manifest), plain(manifest)],
  grammar: (random) =>
    drawContainer(
      random,
      unpack(manifest),
      [0, 1, 2, 3, 4, 100, 101, 102, 103, 104, 108, 117, 118, 125, 126, 127, 132, 134],
    ),
  decode: async (input) => {
    const io = holding(input);
    for await (const { entries } of readManifest(io, entry, spec, typeOf, limitsHere())) {
      for (const one of entries) {
        for (let id = 1; id <= TYPES.length; id++) void { ...columnStats(one.file.stats, id, typeOf(id)) };
      }
    }
    for await (const paths of readManifestPaths(io, 'm', limitsHere())) void paths;
  },
  errors: ERRORS,
};

/** A container of a schema with types in types, and blocks of values that fit it, or nearly. */
function drawContainer(random: Random, usual: Unpacked, ids: readonly number[]): Buffer {
  if (random.chance(0.3)) {
    const [block = { count: 0, bytes: Buffer.alloc(0) }] = usual.blocks;
    const bytes = mutate(random, Buffer.from(block.bytes), Buffer.from(block.bytes));
    return Buffer.from(avroContainer(usual.schema, [{ ...block, bytes }]));
  }
  const names = { next: 0 };
  const record = random.chance(0.6)
    ? vary(random, JSON.parse(usual.schema) as Json, ids, names)
    : drawRecord(random, ids, names, 0);
  const codec = random.chance(0.7) ? 'null' : random.pick(['deflate', 'zstandard', 'snappy', 'lz4']);
  const blocks = Array.from({ length: 1 + random.below(3) }, () => {
    const rows = 1 + random.below(4);
    const values = Array.from({ length: rows }, () => drawValue(random, record, new Map(), 0));
    const count = random.chance(0.95) ? rows : Math.min(random.number(), COUNT_MAX) * (random.chance(0.3) ? -1 : 1);
    return { count, bytes: pack(codec, Buffer.concat(values)) };
  });
  return Buffer.from(avroContainer(JSON.stringify(record), blocks, codec));
}

/** A schema with another type here and there. */
function vary(random: Random, type: Json, ids: readonly number[], names: { next: number }): Json {
  if (random.chance(0.01)) return drawType(random, ids, names, 2);
  if (Array.isArray(type)) return (type as readonly Json[]).map((one) => vary(random, one, ids, names));
  if (typeof type !== 'object' || type === null) return type;
  const { fields, items } = type as JsonObject;
  if (items !== undefined) return { ...(type as JsonObject), items: vary(random, items, ids, names) };
  if (!Array.isArray(fields)) return type;
  const varied = (fields as readonly JsonObject[])
    .filter(() => random.chance(0.99))
    .map((field) => ({ ...field, type: vary(random, field['type'] ?? 'null', ids, names) }));
  return { ...(type as JsonObject), fields: varied };
}

function pack(codec: string, bytes: Buffer): Buffer {
  if (codec === 'deflate') return deflateRawSync(bytes);
  return codec === 'zstandard' ? zstdCompressSync(bytes) : bytes;
}

const PRIMITIVES = ['null', 'boolean', 'int', 'long', 'float', 'double', 'bytes', 'string', 'string', 'long', 'r0'];
const DEPTH_MAX = 5;
/** The greatest that the library writes. */
const COUNT_MAX = 2 ** 53 - 2;

function drawRecord(random: Random, ids: readonly number[], names: { next: number }, depth: number): Json {
  const fields = Array.from({ length: random.below(6) }, (_, i) => ({
    name: random.chance(0.9) ? `f${i}` : 'f0',
    'field-id': random.chance(0.9) ? random.pick(ids) : random.number(),
    type: drawType(random, ids, names, depth + 1),
  }));
  return { type: 'record', name: `r${names.next++}`, fields };
}

function drawType(random: Random, ids: readonly number[], names: { next: number }, depth: number): Json {
  const inner = (): Json => drawType(random, ids, names, depth + 1);
  const kind = depth > DEPTH_MAX ? 0 : random.below(9);
  if (kind <= 2) return random.pick(PRIMITIVES);
  if (kind === 3) return { type: 'array', items: inner(), 'element-id': random.pick(ids) };
  if (kind === 4) return { type: 'array', logicalType: 'map', items: keyValue(inner(), inner()) };
  if (kind === 5) return { type: 'map', values: inner() };
  if (kind === 6) return ['null', inner(), ...(random.chance(0.3) ? [inner()] : [])];
  if (kind === 7)
    return { type: 'fixed', name: `x${names.next++}`, size: random.chance(0.9) ? random.below(20) : random.number() };
  return drawRecord(random, ids, names, depth);
}

const keyValue = (key: Json, value: Json): Json => ({
  type: 'record',
  name: 'kv',
  fields: [
    { name: 'key', type: key, 'field-id': 117 },
    { name: 'value', type: value, 'field-id': 118 },
  ],
});

type Named = Map<string, JsonObject>;

/** Bytes of a value of a type; integers are as in Thrift. */
function drawValue(random: Random, type: Json, named: Named, depth: number): Buffer {
  if (depth > VALUE_DEPTH_MAX || random.chance(0.005)) return random.bytes(random.below(5));
  if (typeof type === 'string') return drawPrimitive(random, type, named, depth);
  if (Array.isArray(type)) {
    const branches = type as readonly Json[];
    const branch = random.below(branches.length);
    const said = random.chance(0.99) ? branch : random.number();
    return Buffer.concat([zigzag(said), drawValue(random, branches[branch] ?? 'null', named, depth + 1)]);
  }
  return drawComplex(random, type as JsonObject, named, depth);
}

function drawPrimitive(random: Random, type: string, named: Named, depth: number): Buffer {
  if (type === 'null') return Buffer.alloc(0);
  if (type === 'boolean') return Buffer.of(random.below(2));
  if (type === 'int' || type === 'long') return zigzag(random.number() * (random.chance(0.1) ? -1 : 1));
  if (type === 'float' || type === 'double') return random.bytes(type === 'float' ? 4 : 8);
  if (type === 'bytes' || type === 'string') {
    const bytes = random.chance(0.5) ? Buffer.from('file:///w/a') : random.bytes(random.below(20));
    return Buffer.concat([zigzag(random.chance(0.99) ? bytes.length : random.number()), bytes]);
  }
  const record = named.get(type);
  return record === undefined ? Buffer.alloc(0) : drawComplex(random, record, named, depth + 1);
}

function drawComplex(random: Random, type: JsonObject, named: Named, depth: number): Buffer {
  const inner = (one: Json): Buffer => drawValue(random, one, named, depth + 1);
  if (typeof type['name'] === 'string') named.set(type['name'], type);
  if (type['type'] === 'record') {
    return Buffer.concat((type['fields'] as readonly JsonObject[]).map((field) => inner(field['type'] ?? 'null')));
  }
  if (type['type'] === 'fixed') return random.bytes(Math.min(Number(type['size']), FIXED_BYTES_MAX));
  const entry = { type: 'record', fields: [{ type: 'string' }, { type: type['values'] ?? 'null' }] };
  const item = type['type'] === 'map' ? entry : type['items'];
  // Without items it is a primitive with a logical type.
  if (item === undefined) return inner(type['type'] ?? 'null');
  const items = Array.from({ length: random.below(4) }, () => inner(item));
  const count = random.chance(0.98) ? items.length : Math.min(random.number(), COUNT_MAX);
  return items.length === 0 ? Buffer.of(0) : Buffer.concat([zigzag(count), ...items, Buffer.of(0)]);
}

const VALUE_DEPTH_MAX = 12;
const FIXED_BYTES_MAX = 100;
