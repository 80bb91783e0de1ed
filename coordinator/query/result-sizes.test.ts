import { expect, test } from 'vitest';
import { tenantId } from '#shared/id.ts';
import { ResultSizes } from './result-sizes.ts';

test('the last result of a shape is remembered, for its tenant', () => {
  const sizes = new ResultSizes();
  const shape = { tenant: tenantId('t'), fingerprint: 'f' };
  expect(sizes.last(shape)).toBeUndefined();
  sizes.ended(shape, 7);
  sizes.ended(shape, 0);
  expect(sizes.last(shape)).toBe(0);
  expect(sizes.last({ ...shape, tenant: tenantId('other') })).toBeUndefined();
  expect(sizes.last({ ...shape, fingerprint: 'other' })).toBeUndefined();
});
