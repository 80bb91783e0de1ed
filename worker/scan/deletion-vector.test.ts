import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import { decodeDeletionVector } from './deletion-vector.ts';

const words = (...values: number[]): Buffer => Buffer.from(Uint32Array.from(values).buffer);
const shorts = (...values: number[]): Buffer => Buffer.from(Uint16Array.from(values).buffer);

/** The blob of a Puffin file around a 64-bit bitmap. */
function frame(bitmap: Buffer): Buffer {
  const content = Buffer.concat([Buffer.from('d1d33964', 'hex'), bitmap]);
  const blob = Buffer.alloc(content.length + 8);
  blob.writeUInt32BE(content.length, 0);
  content.copy(blob, 4);
  blob.writeUInt32BE(crc32(content), content.length + 4);
  return blob;
}

const ARRAY = Buffer.concat([words(12_346, 1), shorts(0, 2), words(16), shorts(1, 5, 65_535)]);

test('an array, bits and runs, below and above 2^32', async () => {
  const bits = Buffer.alloc(8_192);
  for (let i = 0; i < 5_000; i++) bits.writeUInt8((bits[i >> 3] ?? 0) | (1 << (i & 7)), i >> 3);
  const bitset = Buffer.concat([words(12_346, 1), shorts(3, 4_999), words(16), bits]);
  const runs = Buffer.concat([words(12_347), Buffer.of(1), shorts(7, 12), shorts(2, 10, 9, 100, 2)]);
  const blob = frame(Buffer.concat([words(3, 0, 0), ARRAY, words(1), bitset, words(9), runs]));
  const positions = await decodeDeletionVector(blob, 3 + 5_000 + 13);
  const wanted = [
    1n,
    5n,
    65_535n,
    ...Array.from({ length: 5_000 }, (_, i) => (1n << 32n) + BigInt(3 * 65_536 + i)),
    ...Array.from({ length: 10 }, (_, i) => (9n << 32n) + BigInt(7 * 65_536 + 10 + i)),
    ...Array.from({ length: 3 }, (_, i) => (9n << 32n) + BigInt(7 * 65_536 + 100 + i)),
  ];
  expect([...(positions ?? [])]).toEqual(wanted);
});

test('an empty vector', async () => {
  expect(await decodeDeletionVector(frame(words(0, 0)), 0)).toEqual(new BigInt64Array());
});

const whole = frame(Buffer.concat([words(1, 0, 0), ARRAY]));
const flipped = Buffer.from(whole);
flipped.writeUInt8((flipped[30] ?? 0) ^ 1, 30);

test.each([
  ['one flipped bit', flipped, 3],
  ['another count than the manifest says', whole, 4],
  ['fewer than there are', whole, 2],
  ['cut short', whole.subarray(0, -1), 3],
  ['a container that is cut short', frame(Buffer.concat([words(1, 0, 0), ARRAY.subarray(0, -2)])), 3],
  ['bytes behind the last container', frame(Buffer.concat([words(1, 0, 0), ARRAY, shorts(1)])), 3],
  ['no bitmap', frame(Buffer.concat([words(1, 0, 0), words(1, 2, 3, 4)])), 3],
  ['a count of containers that is out of this world', frame(words(1, 0, 0, 12_346, 0xffff_ffff)), 3],
  ['a count of bitmaps that is', frame(words(0xffff_ffff, 0, 0)), 3],
  ['nothing', Buffer.alloc(0), 0],
])('%s is refused', async (_what, blob, cardinality) => {
  expect(await decodeDeletionVector(blob, cardinality)).toBeUndefined();
});
