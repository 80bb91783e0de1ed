import type { Random } from './random.ts';

const MUTATIONS_MAX = 8;
const CHUNK_MAX = 64;
/** Bytes with a meaning in many formats: zero, all bits, limits of one-byte numbers, a varint that continues, an opening bracket. */
const ODD_BYTES = [0, 1, 0x7f, 0x80, 0xff, 0xfe, 0x5b, 0x7b, 0x22, 0x2c];

type Mutation = (random: Random, bytes: Buffer, other: Buffer) => Buffer;

/** Changes some of the bytes. @param other bytes of the same kind, of which a part may be inserted */
export function mutate(random: Random, bytes: Buffer, other: Buffer): Buffer {
  let mutated = bytes;
  for (let left = 1 + random.below(MUTATIONS_MAX); left > 0; left--)
    mutated = random.pick(MUTATIONS)(random, mutated, other);
  return mutated;
}

const replace = (bytes: Buffer, start: number, end: number, by: Uint8Array): Buffer =>
  Buffer.concat([bytes.subarray(0, start), by, bytes.subarray(end)]);

const chunk = (random: Random, bytes: Buffer): Buffer => {
  const start = random.below(bytes.length);
  return bytes.subarray(start, start + 1 + random.below(CHUNK_MAX));
};

const MUTATIONS: readonly Mutation[] = [
  function flipBit(random, bytes) {
    const at = random.below(bytes.length);
    return replace(bytes, at, at + 1, Buffer.of((bytes[at] ?? 0) ^ (1 << random.below(8))));
  },
  function setByte(random, bytes) {
    const at = random.below(bytes.length);
    return replace(bytes, at, at + 1, Buffer.of(random.pick(ODD_BYTES)));
  },
  function addOne(random, bytes) {
    const at = random.below(bytes.length);
    return replace(bytes, at, at + 1, Buffer.of(((bytes[at] ?? 0) + random.pick([1, 2, 254, 255])) & 0xff));
  },
  function insertLargeNumber(random, bytes) {
    const at = random.below(bytes.length + 1);
    const number = Buffer.concat([Buffer.alloc(random.below(12), 0xff), Buffer.of(random.below(128))]);
    return replace(bytes, at, at + random.below(3), number);
  },
  function insertWord(random, bytes) {
    const word = Buffer.alloc(8);
    word.writeBigUInt64LE(BigInt.asUintN(64, BigInt(random.number()) * (random.chance(0.2) ? -1n : 1n)));
    const width = random.pick([2, 4, 8]);
    const at = random.below(bytes.length + 1);
    return replace(bytes, at, at + width, word.subarray(0, width));
  },
  function remove(random, bytes) {
    const at = random.below(bytes.length);
    return replace(bytes, at, at + 1 + random.below(CHUNK_MAX), Buffer.alloc(0));
  },
  function repeat(random, bytes) {
    const part = chunk(random, bytes);
    const at = random.below(bytes.length + 1);
    return replace(bytes, at, at, Buffer.concat(Array.from({ length: 1 + random.below(20) }, () => part)));
  },
  function splice(random, bytes, other) {
    const at = random.below(bytes.length + 1);
    return replace(bytes, at, at + random.below(CHUNK_MAX), chunk(random, other));
  },
  function cut(random, bytes) {
    return bytes.subarray(0, random.below(bytes.length + 1));
  },
  function noise(random, bytes) {
    const at = random.below(bytes.length + 1);
    return replace(bytes, at, at, random.bytes(1 + random.below(CHUNK_MAX)));
  },
];
