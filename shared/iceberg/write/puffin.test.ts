import { expect, test } from 'vitest';
import { parseJson, type JsonObject } from '#shared/json.ts';
import { decodeDeletionVector } from '../deletion-vector.ts';
import { PositionSet } from '../position-set.ts';
import { encodeVectors } from './puffin.ts';

const setOf = (positions: Iterable<number>): PositionSet => {
  const set = new PositionSet();
  for (const position of positions) set.add(position);
  return set;
};
const range = (start: number, count: number): number[] => Array.from({ length: count }, (_, i) => start + i);

test.each([
  ['one position', [0]],
  ['some, far apart', [5, 1_023, 1_024, 65_535, 65_536, 9_000_000]],
  ['a full container and a part of the next', range(65_536, 70_000)],
  ['a list and bits side by side', [...range(0, 4_096), ...range(65_536, 4_097)]],
  ['above 2^32', [7, 2 ** 32 - 1, 2 ** 32, 2 ** 33 + 70_000]],
])('%s: written as a vector and read', async (_, positions) => {
  const set = setOf(positions.toReversed());
  expect([...set]).toEqual(positions);
  const { bytes, vectors } = encodeVectors([
    { dataFile: 'a', positions: setOf([3]) },
    { dataFile: 'b', positions: set },
  ]);
  const [, place] = vectors;
  expect(place).toMatchObject({ dataFile: 'b', cardinality: positions.length });
  const { offset = 0, lengthBytes = 0 } = place ?? {};
  const read = await decodeDeletionVector(bytes.subarray(offset, offset + lengthBytes), positions.length);
  expect(Array.from(read ?? [], Number)).toEqual(positions);
});

test('the footer names the data file of each vector', () => {
  const { bytes, vectors } = encodeVectors([{ dataFile: 'file:///a.parquet', positions: setOf([1, 2]) }]);
  expect(bytes.subarray(0, 4).toString()).toBe('PFA1');
  expect(bytes.subarray(-4).toString()).toBe('PFA1');
  const length = bytes.readInt32LE(bytes.length - 12);
  const payload = bytes.subarray(bytes.length - 12 - length, bytes.length - 12);
  expect(bytes.subarray(bytes.length - 16 - length, bytes.length - 12 - length).toString()).toBe('PFA1');
  expect((parseJson(payload.toString()) as JsonObject)['blobs']).toEqual([
    {
      type: 'deletion-vector-v1',
      fields: [2_147_483_645],
      'snapshot-id': -1,
      'sequence-number': -1,
      offset: 4,
      length: vectors[0]?.lengthBytes,
      properties: { 'referenced-data-file': 'file:///a.parquet', cardinality: '2' },
    },
  ]);
});

test('bits as DuckDB gives them: the first position is the highest bit', () => {
  const set = setOf([2_048]);
  const bits = new Uint8Array(128);
  bits[0] = 0b1010_0000;
  bits[127] = 1;
  set.addBits(2, bits);
  expect([...set]).toEqual([2_048, 2_050, 3_071]);
  expect(set.size).toBe(3);
  expect(() => set.addBits(0, new Uint8Array(127))).toThrow(RangeError);
});
