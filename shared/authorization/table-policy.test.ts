import { expect, test } from 'vitest';
import { fromPolicyMessage } from './table-policy.ts';

test('a policy of a kind from a newer catalog is kept, so that its table is not read without it', () => {
  const message = { name: 'p', field_id: 3, sql: 'a > 1' };
  expect(fromPolicyMessage({ ...message, kind: 'row_access' })).toEqual({
    kind: 'row_access',
    name: 'p',
    condition: 'a > 1',
  });
  expect(fromPolicyMessage({ ...message, kind: 'masking' })).toEqual({
    kind: 'masking',
    name: 'p',
    fieldId: 3,
    expression: 'a > 1',
  });
  expect(fromPolicyMessage({ ...message, kind: 'aggregation' })).toEqual({ kind: 'unknown', name: 'p' });
});
