import { crc32 } from 'node:zlib';
import { SkeinError } from '#shared/error.ts';
import { decodeDeletionVector } from '#shared/iceberg/deletion-vector.ts';
import type { Decoder } from '../decoder.ts';
import type { Random } from '../random.ts';

const CARDINALITY_MAX = 1_000_000;

const words = (...values: readonly number[]): Buffer => Buffer.from(Uint32Array.from(values).buffer);
const shorts = (...values: readonly number[]): Buffer => Buffer.from(Uint16Array.from(values).buffer);

/** An input: the number of positions that the manifest claims, and a bitmap. */
const input = (cardinality: number, bitmap: Buffer): Buffer => Buffer.concat([words(cardinality), bitmap]);

/** The blob of a Puffin file around a bitmap, with the right lengths and checksum: without them nothing is decoded. */
function frame(bitmap: Buffer): Buffer {
  const content = Buffer.concat([Buffer.from('d1d33964', 'hex'), bitmap]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(content));
  return Buffer.concat([length, content, checksum]);
}

const ARRAY = Buffer.concat([words(12_346, 1), shorts(0, 2), words(16), shorts(1, 5, 65_535)]);
const RUNS = Buffer.concat([words(12_347), Buffer.of(1), shorts(7, 12), shorts(2, 10, 9, 100, 2)]);
const BITS = Buffer.concat([words(12_346, 1), shorts(3, 4_999), words(16), Buffer.alloc(8_192, 0x55)]);

export const DELETION_VECTOR: Decoder = {
  name: 'deletion-vector',
  samples: [
    input(3, Buffer.concat([words(1, 0, 0), ARRAY])),
    input(13, Buffer.concat([words(1, 0, 9), RUNS])),
    input(3 + 32_768 + 13, Buffer.concat([words(3, 0, 0), ARRAY, words(1), BITS, words(9), RUNS])),
  ],
  grammar: (random) => {
    const bitmaps = Array.from({ length: random.below(4) }, () => drawBitmap(random));
    const count = random.chance(0.95) ? bitmaps.length : random.number() % 2 ** 32;
    const positions = bitmaps.reduce((sum, bitmap) => sum + bitmap.positions, 0);
    const parts = bitmaps.flatMap(({ bytes }, i) => [words(i), bytes]);
    const said = random.chance(0.95) ? positions : random.number() % CARDINALITY_MAX;
    return input(said, Buffer.concat([words(count, 0), ...parts]));
  },
  decode: async (bytes) => {
    const cardinality = bytes.length < 4 ? 0 : bytes.readUInt32LE() % CARDINALITY_MAX;
    const framed = frame(bytes.subarray(4));
    const found = await decodeDeletionVector(framed, cardinality);
    if (found === undefined) throw new SkeinError('INVALID_TABLE_DATA', 'corrupt');
    if (found.length !== cardinality) throw new Error('there are not as many positions as there should be');
  },
  errors: ['INVALID_TABLE_DATA'],
};

type Drawn = { readonly bytes: Buffer; readonly positions: number };

function drawBitmap(random: Random): Drawn {
  const containers = Array.from({ length: 1 + random.below(6) }, (_, i) => drawContainer(random, i));
  const positions = containers.reduce((sum, one) => sum + one.positions, 0);
  const hasRuns = containers.some(({ isRun }) => isRun);
  const flags = Buffer.alloc((containers.length + 7) >> 3);
  for (const [i, { isRun }] of containers.entries()) {
    if (isRun) flags.writeUInt8((flags[i >> 3] ?? 0) | (1 << (i & 7)), i >> 3);
  }
  const count = random.chance(0.98) ? containers.length : 1 + (random.number() % 65_536);
  const head = hasRuns ? Buffer.concat([words((12_347 | ((count - 1) << 16)) >>> 0), flags]) : words(12_346, count);
  const offsets = Buffer.alloc(!hasRuns || containers.length >= 4 ? containers.length * 4 : 0);
  const headers = containers.map(({ key, cardinality }) => shorts(key, cardinality - 1));
  return { bytes: Buffer.concat([head, ...headers, offsets, ...containers.map(({ bytes }) => bytes)]), positions };
}

type Container = Drawn & { readonly isRun: boolean; readonly key: number; readonly cardinality: number };

function drawContainer(random: Random, key: number): Container {
  const kind = random.below(3);
  if (kind === 0) {
    const values = Array.from({ length: 1 + random.below(20) }, () => random.number() % 65_536);
    return { isRun: false, key, cardinality: values.length, bytes: shorts(...values), positions: values.length };
  }
  if (kind === 1) return { key, ...drawRuns(random) };
  const cardinality = 4_097 + random.below(60_000);
  const bytes = Buffer.concat([Buffer.alloc(cardinality >> 3, 0xff), Buffer.of((1 << (cardinality & 7)) - 1)], 8_192);
  return { isRun: false, key, cardinality, bytes, positions: cardinality };
}

/** Draws runs, some of which overlap or end beyond their container. */
function drawRuns(random: Random): Omit<Container, 'key'> {
  const runs: number[] = [];
  let next = 0;
  let positions = 0;
  for (let left = random.below(5); left > 0; left--) {
    const start = random.chance(0.97) ? next + random.below(100) : random.below(65_536);
    const length = random.chance(0.9) ? random.below(1_000) : random.below(65_536);
    runs.push(start, length);
    next = start + length + 1;
    positions += length + 1;
  }
  const cardinality = 1 + (random.number() % 65_536);
  return { isRun: true, cardinality, bytes: shorts(runs.length / 2, ...runs), positions };
}
