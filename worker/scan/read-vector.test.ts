import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DeletedPositions } from './deleted-positions.ts';
import { readDeletionVector } from './read-vector.ts';
import { decodeDeletionVector } from '#shared/iceberg/deletion-vector.ts';
import { fileStorage } from '#test/support/file-storage.ts';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'skein-vector-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

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
  [
    'runs that overlap',
    frame(Buffer.concat([words(1, 0, 0, 12_347), Buffer.of(1), shorts(0, 19), shorts(2, 0, 9, 5, 9)])),
    20,
  ],
  ['nothing', Buffer.alloc(0), 0],
])('%s is refused', async (_what, blob, cardinality) => {
  expect(await decodeDeletionVector(blob, cardinality)).toBeUndefined();
});

describe('hostile', () => {
  const MIB = 2 ** 20;
  /** Containers of one run each, of all 65,536 positions. */
  const runs = (containers: number): Buffer =>
    Buffer.concat([
      words(1, 0, 0, (12_347 + (containers - 1) * 65_536) >>> 0),
      Buffer.alloc((containers + 7) >> 3, 0xff),
      ...Array.from({ length: containers }, (_, i) => shorts(i, 65_535)),
      Buffer.alloc(containers * 4),
      ...Array.from({ length: containers }, () => shorts(1, 0, 65_535)),
    ]);

  const read = (bytes: Uint8Array, cardinality: number, bytesMax: number, claimed = bytes.length) => {
    const path = join(dir, 'v.puffin');
    writeFileSync(path, bytes);
    const vector = { kind: 'vector', path, offset: 0, lengthBytes: claimed, cardinality } as const;
    return readDeletionVector(fileStorage, vector, new DeletedPositions(bytesMax));
  };

  test('21 KB of a hundred million positions are refused before there is an array of them', async () => {
    const blob = frame(runs(1_530));
    expect(blob.length).toBeLessThan(22_000);
    const memory = process.memoryUsage().arrayBuffers;
    const answer = read(blob, 1_530 * 65_536, 64 * MIB);
    await expect(answer).rejects.toMatchObject({ code: 'OUT_OF_MEMORY' });
    expect(process.memoryUsage().arrayBuffers - memory).toBeLessThan(MIB);
  });

  test('those of several vectors count together', async () => {
    const positions = new DeletedPositions(MIB);
    positions.reserve(MIB / 2);
    positions.reserve(MIB / 2);
    expect(() => positions.reserve(1)).toThrow('more than 1048576 bytes');
  });

  test('where there is room the thread runs other tasks meanwhile', async () => {
    let turns = 0;
    const ticker = setInterval(() => turns++, 1);
    const found = await read(frame(runs(160)), 160 * 65_536, 128 * MIB);
    clearInterval(ticker);
    expect(found.length).toBe(160 * 65_536);
    expect(found.at(-1)).toBe(BigInt(160 * 65_536 - 1));
    expect(turns).toBeGreaterThan(3);
  });

  test('a million bitmaps of nothing are read with pauses', async () => {
    const empty = words(0, 12_346, 0);
    const blob = frame(Buffer.concat([words(1_000_000, 0), ...Array.from({ length: 1_000_000 }, () => empty)]));
    let turns = 0;
    const ticker = setInterval(() => turns++, 1);
    expect(await decodeDeletionVector(blob, 0)).toEqual(new BigInt64Array());
    clearInterval(ticker);
    expect(turns).toBeGreaterThan(3);
  });

  test.each([
    ['more positions than its bytes can hold', 2 ** 40, undefined],
    ['a negative number of positions', -1, undefined],
    ['a negative length, which would give memory back', 3, -(2 ** 40)],
  ])('%s', async (_what, cardinality, claimed) => {
    const answer = read(frame(Buffer.concat([words(1, 0, 0), ARRAY])), cardinality, MIB, claimed);
    await expect(answer).rejects.toMatchObject({ code: 'INVALID_TABLE_DATA' });
  });

  test('a length beyond the limit, and one beyond the file', async () => {
    const bytes = frame(Buffer.concat([words(1, 0, 0), ARRAY]));
    await expect(read(bytes, 3, 2 ** 40, 257 * MIB)).rejects.toMatchObject({ code: 'TABLE_DATA_TOO_COMPLEX' });
    await expect(read(bytes, 3, 2 ** 40, 200 * MIB)).rejects.toMatchObject({ code: 'INVALID_TABLE_DATA' });
  });
});
