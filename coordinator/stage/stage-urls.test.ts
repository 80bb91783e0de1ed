import { expect, test } from 'vitest';
import { PART_BYTES_DEFAULT, PARTS_MAX, planParts } from './stage-urls.ts';

test.each([
  [0, null, [0]],
  [10, 4, [4, 4, 2]],
  [8, 4, [4, 4]],
  [PART_BYTES_DEFAULT + 1, null, [PART_BYTES_DEFAULT, 1]],
])('%i bytes in parts of %s', (size, part, sizes) => {
  expect(planParts(size, part).parts).toEqual(sizes.map((sizeBytes, i) => ({ number: i + 1, sizeBytes })));
});

test('a file of unknown size has a hundred parts; a large one larger parts, unless it asks for too many', () => {
  expect(planParts(null, 5)).toMatchObject({ partBytes: 5, parts: { length: 100 } });
  const terabyte = 2 ** 40;
  const { parts, partBytes } = planParts(terabyte, null);
  expect([parts.length <= PARTS_MAX, partBytes]).toEqual([true, Math.ceil(terabyte / PARTS_MAX)]);
  expect(() => planParts(terabyte, 2 ** 20)).toThrow('the file has more than 10000 parts of 1048576 bytes');
});
