import { expect, test } from 'vitest';
import { accessBoundary } from './access-boundary.ts';

const conditionOf = (folder: string): string =>
  accessBoundary([folder], 'read').accessBoundary.accessBoundaryRules[0]?.availabilityCondition.expression ?? '';

test('a condition ends with a slash, and a quote ends none of its texts', () => {
  expect(conditionOf('gs://bucket/orders')).toContain(`.startsWith('projects/_/buckets/bucket/objects/orders/')`);
  expect(conditionOf(`gs://bucket/a') || true || ('`)).toContain(String.raw`objects/a\') || true || (\'/')`);
  expect(conditionOf('gs://bucket/a\\')).toContain(String.raw`objects/a\\/')`);
});

test.each([['gs://bucket'], ['gs://bucket/t', 'gs://bucket/'], ['gs://bucket/t', 'gs://other/t']])(
  'there is no token for %s',
  (...folders) => {
    expect(() => accessBoundary(folders, 'read')).toThrow(expect.objectContaining({ code: 'NOT_SUPPORTED' }));
  },
);
