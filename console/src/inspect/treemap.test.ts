import fc from 'fast-check';
import { expect, test } from 'vitest';
import { treemap } from './treemap.ts';

test('tiles have the shares of their weights, lie within the whole, and do not overlap', () => {
  const weights = fc.array(fc.integer({ min: 1, max: 1_000 }), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(weights, (given) => {
      const sorted = given.toSorted((a, b) => b - a);
      const total = sorted.reduce((a, b) => a + b, 0);
      const tiles = treemap(sorted, 2, 1);
      expect(tiles.map(({ index }) => index)).toEqual(sorted.keys().toArray());
      for (const [i, { x, y, width, height }] of tiles.entries()) {
        expect(width * height).toBeCloseTo(((sorted[i] ?? 0) / total) * 2, 6);
        expect(x >= -1e-9 && y >= -1e-9 && x + width <= 2 + 1e-6 && y + height <= 1 + 1e-6).toBe(true);
        for (const other of tiles.slice(i + 1)) {
          const isApart =
            other.x >= x + width - 1e-6 ||
            x >= other.x + other.width - 1e-6 ||
            other.y >= y + height - 1e-6 ||
            y >= other.y + other.height - 1e-6;
          expect(isApart).toBe(true);
        }
      }
    }),
  );
  expect(treemap([0, 0])).toEqual([]);
});
