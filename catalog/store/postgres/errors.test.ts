import { expect, test } from 'vitest';
import { toCatalogError } from './errors.ts';

test.each([
  ['23503', 'COMMIT_CONFLICT'],
  ['23505', 'COMMIT_CONFLICT'],
  ['54000', 'INVALID_REQUEST'],
  ['22001', 'INVALID_REQUEST'],
  ['22003', 'INVALID_REQUEST'],
  ['22008', 'INVALID_REQUEST'],
  ['22021', 'INVALID_REQUEST'],
  ['40P01', 'CATALOG_UNAVAILABLE'],
  ['57P01', 'CATALOG_UNAVAILABLE'],
  // Faults of ours stay faults of ours.
  ['23502', 'INTERNAL_ERROR'],
  ['23514', 'INTERNAL_ERROR'],
  ['42P01', 'INTERNAL_ERROR'],
])('what Postgres tells as %s is %s', (code, error) => {
  expect(toCatalogError(Object.assign(new Error('of Postgres'), { code })).code).toBe(error);
});
