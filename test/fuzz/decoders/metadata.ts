import { gzipSync, zstdCompressSync } from 'node:zlib';
import { registerMetadata } from '#catalog/commit/register-metadata.ts';
import { parseViewMetadata } from '#catalog/metadata/view/view-metadata.ts';
import { parseBody, unpackBody } from '#catalog/metadata/body.ts';
import { parseExpression } from '#shared/iceberg/expression.ts';
import { parseTableMetadata } from '#shared/iceberg/table-metadata.ts';
import type { Json } from '#shared/json.ts';
import type { FileReader } from '#shared/storage/storage.ts';
import { NESTED_SCHEMA } from '#test/support/nested-schema.ts';
import type { Decoder } from '../decoder.ts';
import { mutateJson } from '../mutate-json.ts';

const MIB = 2 ** 20;

const TABLE: Json = {
  'format-version': 3,
  'table-uuid': 'd20125c8-7284-442c-9aea-15fee620737c',
  location: 'file:///w/t',
  'last-sequence-number': 2,
  'last-updated-ms': 1_700_000_000_000,
  'last-column-id': 9,
  'current-schema-id': 0,
  schemas: [NESTED_SCHEMA],
  'default-spec-id': 0,
  'partition-specs': [
    {
      'spec-id': 0,
      fields: [
        { name: 'day', transform: 'day', 'source-id': 9, 'field-id': 1000 },
        { name: 'b', transform: 'bucket[16]', 'source-id': 1, 'field-id': 1001 },
      ],
    },
  ],
  'last-partition-id': 1001,
  'default-sort-order-id': 1,
  'sort-orders': [
    {
      'order-id': 1,
      fields: [{ transform: 'truncate[4]', 'source-id': 1, direction: 'asc', 'null-order': 'nulls-first' }],
    },
  ],
  properties: {
    'schema.name-mapping.default': '[{"field-id": 1, "names": ["id"]}]',
    'write.data.path': 'file:///w/t/d',
  },
  'current-snapshot-id': 5,
  refs: { main: { 'snapshot-id': 5, type: 'branch', 'max-snapshot-age-ms': 10 } },
  snapshots: [
    {
      'snapshot-id': 5,
      'sequence-number': 2,
      'timestamp-ms': 1_700_000_000_000,
      'manifest-list': 'file:///w/t/metadata/snap.avro',
      summary: { operation: 'append' },
      'schema-id': 0,
      'first-row-id': 0,
      'added-rows': 10,
    },
  ],
  'snapshot-log': [{ 'snapshot-id': 5, 'timestamp-ms': 1_700_000_000_000 }],
  'metadata-log': [{ 'metadata-file': 'file:///w/t/metadata/0.json', 'timestamp-ms': 1_600_000_000_000 }],
  statistics: [
    {
      'snapshot-id': 5,
      'statistics-path': 'file:///w/t/s.puffin',
      'file-size-in-bytes': 10,
      'file-footer-size-in-bytes': 5,
      'blob-metadata': [{ type: 'x', 'snapshot-id': 5, 'sequence-number': 2, fields: [1] }],
    },
  ],
  'next-row-id': 10,
};
const VIEW: Json = {
  'view-uuid': 'fa6506c3-7681-40c8-86dc-e36561f83385',
  'format-version': 1,
  location: 'file:///w/v',
  'current-version-id': 1,
  properties: { comment: 'c' },
  versions: [
    {
      'version-id': 1,
      'timestamp-ms': 1_573_518_431_292,
      'schema-id': 0,
      'default-catalog': 'prod',
      'default-namespace': ['default'],
      summary: { 'engine-name': 'Spark' },
      representations: [{ type: 'sql', sql: 'SELECT 1', dialect: 'spark' }],
    },
  ],
  schemas: [NESTED_SCHEMA],
  'version-log': [{ 'timestamp-ms': 1_573_518_431_292, 'version-id': 1 }],
};
const FILTER: Json = {
  type: 'and',
  left: { type: 'eq', term: 'id', value: 5 },
  right: {
    type: 'not',
    child: {
      type: 'or',
      left: { type: 'in', term: { type: 'transform', transform: 'bucket[16]', term: 'id' }, values: [1, 2, 3] },
      right: { type: 'is-null', term: 'tags' },
    },
  },
};

const text = (json: Json): Buffer => Buffer.from(JSON.stringify(json));

export const TABLE_METADATA: Decoder = {
  name: 'table-metadata',
  samples: [text(TABLE)],
  grammar: (random) => mutateJson(random, TABLE),
  decode: (input) => parseTableMetadata(input.toString()),
  errors: ['INVALID_TABLE_DATA', 'NOT_SUPPORTED'],
};

export const REGISTERED_METADATA: Decoder = {
  name: 'registered-metadata',
  samples: [text(TABLE), gzipSync(text(TABLE))],
  grammar: (random) => {
    const document = mutateJson(random, TABLE);
    return random.chance(0.1) ? gzipSync(document) : document;
  },
  decode: (input) => {
    const io: FileReader = { read: () => Promise.resolve(input) };
    const limits = { bytesMax: MIB, fileBytesMax: MIB };
    return registerMetadata(io, { file: 'file:///w/t/metadata/1.json', roots: ['file:///w'], ...limits });
  },
  errors: ['INVALID_REQUEST', 'TABLE_DATA_TOO_COMPLEX'],
};

export const VIEW_METADATA: Decoder = {
  name: 'view-metadata',
  samples: [text(VIEW)],
  grammar: (random) => mutateJson(random, VIEW),
  decode: (input) => parseViewMetadata(parseBody(input) ?? null),
  errors: ['INVALID_REQUEST', 'INVALID_VIEW'],
};

export const SCAN_FILTER: Decoder = {
  name: 'scan-filter',
  samples: [text(FILTER)],
  grammar: (random) => mutateJson(random, FILTER),
  decode: (input) => parseExpression(parseBody(input) ?? null),
  errors: ['INVALID_REQUEST'],
};

const packed = (kind: number, body: Buffer): Buffer => Buffer.concat([Buffer.of(kind), body]);
/** Small inputs that unpack to megabytes, some beyond the limit and some below it. */
const BOMBS = [gzipSync, zstdCompressSync].map((pack) =>
  [0x20, 0x7b, 0x31].flatMap((byte) => [1, 20].map((size) => pack(Buffer.alloc(size * MIB, byte)))),
);

const ENCODINGS = ['gzip', 'zstd', 'x-gzip', 'br', ''];

/** The first byte says which `Content-Encoding` the others claim. */
export const REQUEST_BODY: Decoder = {
  name: 'request-body',
  samples: [packed(0, gzipSync(text(TABLE))), packed(1, zstdCompressSync(text(TABLE))), packed(4, text(TABLE))],
  grammar: (random) => {
    const kind = random.below(2);
    const honest = (kind === 0 ? gzipSync : zstdCompressSync)(text(VIEW));
    const parts = Array.from({ length: 1 + random.below(3) }, () =>
      random.chance(0.02) ? random.pick(BOMBS[kind] ?? []) : honest,
    );
    return packed(kind, Buffer.concat(parts));
  },
  decode: async (input) => {
    const encoding = ENCODINGS[(input[0] ?? 0) % ENCODINGS.length] ?? '';
    const body = input.subarray(1);
    const bytes = encoding === '' ? body : await unpackBody(body, encoding, 8 * MIB);
    return parseBody(bytes);
  },
  errors: ['INVALID_REQUEST', 'PAYLOAD_TOO_LARGE'],
};
