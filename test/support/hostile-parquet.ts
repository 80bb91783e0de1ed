/** Makes Parquet files that no library would write: footers in Thrift's compact protocol, field by field. */

const TYPES = { flag: 1, byte: 3, int32: 5, int64: 6, binary: 8, list: 9, map: 11, struct: 12 } as const;
const MAGIC = Buffer.from('PAR1');

export type ThriftType = keyof typeof TYPES;
/** A field of a struct: its number, its type, and its value's bytes. */
export type ThriftField = readonly [id: number, type: ThriftType, bytes: Uint8Array];

export function varint(value: number | bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt(value);
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  return Buffer.of(...bytes, Number(rest));
}

export const zigzag = (value: number | bigint): Buffer =>
  varint(BigInt(value) < 0n ? -2n * BigInt(value) - 1n : 2n * BigInt(value));

export const binary = (value: string | Uint8Array): Buffer => {
  const bytes = Buffer.from(value);
  return Buffer.concat([varint(bytes.length), bytes]);
};

/** Fields in the order of their numbers. */
export function struct(...fields: readonly ThriftField[]): Buffer {
  let last = 0;
  const parts = fields.map(([id, type, bytes]) => {
    const delta = id - last;
    last = id;
    const head = delta > 0 && delta < 16 ? Buffer.of((delta << 4) | TYPES[type]) : shortHead(id, type);
    return Buffer.concat([head, bytes]);
  });
  return Buffer.concat([...parts, Buffer.of(0)]);
}

const shortHead = (id: number, type: ThriftType): Buffer => Buffer.concat([Buffer.of(TYPES[type]), zigzag(id)]);

/** @param size number of items that the list claims to have */
export function list(type: ThriftType, items: readonly Uint8Array[], size = items.length): Buffer {
  const head =
    size < 15 ? Buffer.of((size << 4) | TYPES[type]) : Buffer.concat([Buffer.of(0xf0 | TYPES[type]), varint(size)]);
  return Buffer.concat([head, ...items]);
}

/** One column of the schema. @param type of Parquet's physical types: 1 = INT32, 6 = BYTE_ARRAY, 7 = FIXED_LEN_BYTE_ARRAY */
export const leafElement = (name: string, fieldId: number, type = 1, more: readonly ThriftField[] = []): Buffer =>
  struct([1, 'int32', zigzag(type)], [3, 'int32', zigzag(1)], [4, 'binary', binary(name)], ...more, [
    9,
    'int32',
    zigzag(fieldId),
  ]);

export const groupElement = (name: string, children: number): Buffer =>
  struct([4, 'binary', binary(name)], [5, 'int32', zigzag(children)]);

export type ChunkParts = {
  readonly rows: number;
  readonly bytes?: number;
  readonly type?: number;
  /** Fields of the struct `Statistics`. */
  readonly statistics?: readonly ThriftField[];
};

export function columnChunk({ rows, bytes = 1, type = 1, statistics }: ChunkParts): Buffer {
  const metadata = struct(
    [1, 'int32', zigzag(type)],
    [2, 'list', list('int32', [zigzag(0)])],
    [3, 'list', list('binary', [binary('a')])],
    [4, 'int32', zigzag(0)],
    [5, 'int64', zigzag(rows)],
    [6, 'int64', zigzag(bytes)],
    [7, 'int64', zigzag(bytes)],
    [9, 'int64', zigzag(4)],
    ...(statistics === undefined ? [] : [[12, 'struct', struct(...statistics)] as const]),
  );
  return struct([2, 'int64', zigzag(0)], [3, 'struct', metadata]);
}

export const rowGroup = (rows: number, chunks: readonly Uint8Array[]): Buffer =>
  struct([1, 'list', list('struct', chunks)], [2, 'int64', zigzag(1)], [3, 'int64', zigzag(rows)]);

/** The struct `FileMetaData`. @param schema its root first */
export const fileMetadata = (schema: Uint8Array, rows: number, groups: Uint8Array): Buffer =>
  struct([1, 'int32', zigzag(1)], [2, 'list', schema], [3, 'int64', zigzag(rows)], [4, 'list', groups]);

/** A whole file that consists of its footer. @param length claimed length of the footer */
export function parquetFile(metadata: Uint8Array, length = metadata.length): Buffer {
  const trailer = Buffer.alloc(4);
  trailer.writeUInt32LE(length);
  return Buffer.concat([MAGIC, metadata, trailer, MAGIC]);
}
