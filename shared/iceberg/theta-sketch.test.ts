import { expect, test } from 'vitest';
import { THETA_MAX, thetaOf, ThetaSketch } from './theta-sketch.ts';

/** Hashes that lie evenly. */
function sketchOf(distinct: number, theta = thetaOf(distinct)): ThetaSketch {
  const sketch = new ThetaSketch(theta);
  const step = THETA_MAX / BigInt(distinct + 1);
  for (let i = 1n; i <= distinct; i += 1n) {
    sketch.add(i * step);
    sketch.add(i * step);
  }
  return sketch;
}

test.each([0, 1, 2, 3_000])('%i values are counted exactly', (distinct) => {
  expect(thetaOf(distinct)).toBe(THETA_MAX);
  expect(sketchOf(distinct).distinct).toBe(distinct);
});

test.each([
  ['chosen for it', 100_000, thetaOf(100_000)],
  ['chosen for fewer', 100_000, thetaOf(5_000)],
  ['chosen for few', 20_000, THETA_MAX],
])('many values are estimated from a sample, with a theta that was %s', (_, distinct, theta) => {
  const sketch = sketchOf(distinct, theta);
  expect(Math.abs(sketch.distinct / distinct - 1)).toBeLessThan(0.01);
  expect(sketch.encode().length).toBeLessThanOrEqual(8 * (3 + 2 * 4_096));
});

test('the compact form of none, of one, of few, of many', () => {
  expect(sketchOf(0).encode().toString('hex')).toBe('01030300001ecc93');
  const one = sketchOf(1).encode();
  expect(one.subarray(0, 8).toString('hex')).toBe('01030300003acc93');
  expect(one.readBigUInt64LE(8)).toBe(THETA_MAX / 2n);
  const few = sketchOf(2).encode();
  expect([few[0], few.readUInt32LE(8), few.length]).toEqual([2, 2, 32]);
  const many = sketchOf(100_000).encode();
  expect([many[0], many.readBigUInt64LE(16)]).toEqual([3, thetaOf(100_000)]);
});
