import { crc32 } from 'node:zlib';
import { must } from '#shared/must.ts';
import { BUCKET_POSITIONS, ones, type PositionSet } from '../position-set.ts';
import { encodePuffin } from './puffin-file.ts';

/** The positions that are deleted in a data file. */
export type DeletedRows = { readonly dataFile: string; readonly positions: PositionSet };

/** Where the deletion vector of a data file lies in a Puffin file. */
export type VectorPlace = {
  readonly dataFile: string;
  readonly offset: number;
  readonly lengthBytes: number;
  readonly cardinality: number;
};

/** Begins a bitmap of a deletion vector. */
const VECTOR_MAGIC = Buffer.from('d1d33964', 'hex');
/** A 32-bit Roaring bitmap without run containers (RoaringFormatSpec). */
const COOKIE = 12_346;
const CONTAINER_POSITIONS = 65_536;
const CONTAINER_BYTES = CONTAINER_POSITIONS / 8;
/** Most positions of a container that lists them. */
const ARRAY_MAX = 4_096;
/** Field id of a row's position (Iceberg specification, "Reserved Field IDs"). */
const POSITION_ID = 2_147_483_645;

/** Encodes a Puffin file of deletion vectors, one blob `deletion-vector-v1` for each data file: length, magic, 64-bit Roaring bitmap, CRC-32. */
export function encodeVectors(deleted: readonly DeletedRows[]): {
  readonly bytes: Buffer;
  readonly vectors: readonly VectorPlace[];
} {
  const contents = deleted.map(({ positions }) => encodeVector(positions));
  const { bytes, offsets } = encodePuffin(
    deleted.map(({ dataFile, positions }, i) => ({
      type: 'deletion-vector-v1',
      fields: [POSITION_ID],
      // Those of the snapshot that adds the vector, which is not known yet.
      snapshotId: -1n,
      sequenceNumber: -1n,
      properties: { 'referenced-data-file': dataFile, cardinality: String(positions.size) },
      content: must(contents[i], 'a blob for each file'),
    })),
  );
  const vectors = deleted.map(({ dataFile, positions }, i) => ({
    dataFile,
    offset: must(offsets[i], 'a place for each blob'),
    lengthBytes: must(contents[i], 'a blob for each file').length,
    cardinality: positions.size,
  }));
  return { bytes, vectors };
}

/** The blob of a deletion vector. */
function encodeVector(positions: PositionSet): Buffer {
  const content = Buffer.concat([VECTOR_MAGIC, encodeBitmaps(positions)]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(content.length);
  checksum.writeUInt32BE(crc32(content));
  return Buffer.concat([length, content, checksum]);
}

type Container = { readonly key: number; readonly bits: Buffer; cardinality: number };

/** The 64-bit form: a bitmap of 32 bits for each value of the upper 32 bits of the positions. */
function encodeBitmaps(positions: PositionSet): Buffer {
  const bitmaps = Map.groupBy(containersOf(positions), ({ key }) => Math.floor(key / 65_536));
  const count = Buffer.alloc(8);
  count.writeUInt32LE(bitmaps.size);
  const parts: Buffer[] = [count];
  for (const [high, containers] of bitmaps) parts.push(uint32(high), encodeBitmap(containers));
  return Buffer.concat(parts);
}

function encodeBitmap(containers: readonly Container[]): Buffer {
  const encoded = containers.map(encodeContainer);
  const head = Buffer.alloc(8 + containers.length * 8);
  head.writeUInt32LE(COOKIE, 0);
  head.writeUInt32LE(containers.length, 4);
  let offset = head.length;
  for (const [i, { key, cardinality }] of containers.entries()) {
    head.writeUInt16LE(key % 65_536, 8 + i * 4);
    head.writeUInt16LE(cardinality - 1, 10 + i * 4);
    head.writeUInt32LE(offset, 8 + containers.length * 4 + i * 4);
    offset += encoded[i]?.length ?? 0;
  }
  return Buffer.concat([head, ...encoded]);
}

function encodeContainer({ bits, cardinality }: Container): Buffer {
  if (cardinality > ARRAY_MAX) return bits;
  const list = Buffer.alloc(cardinality * 2);
  let at = 0;
  for (const [index, byte] of bits.entries()) {
    for (let rest = byte; rest !== 0; rest &= rest - 1) {
      at = list.writeUInt16LE(index * 8 + 31 - Math.clz32(rest & -rest), at);
    }
  }
  return list;
}

function containersOf(positions: PositionSet): readonly Container[] {
  const containers: Container[] = [];
  const perContainer = CONTAINER_POSITIONS / BUCKET_POSITIONS;
  for (const [bucket, bits] of positions.buckets()) {
    const key = Math.floor(bucket / perContainer);
    let last = containers.at(-1);
    if (last?.key !== key) {
      last = { key, bits: Buffer.alloc(CONTAINER_BYTES), cardinality: 0 };
      containers.push(last);
    }
    last.bits.set(bits, (bucket % perContainer) * bits.length);
    last.cardinality += bits.reduce((sum, byte) => sum + ones(byte), 0);
  }
  return containers;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
