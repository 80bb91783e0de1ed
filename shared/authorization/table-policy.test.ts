import { expect, test } from 'vitest';
import { fromPolicyMessage } from './table-policy.ts';

test('a policy of a kind from a newer catalog is kept, so that its table is not read without it', () => {
  const message = {
    name: 'c.s.p',
    field_id: 3,
    body: 'a > 1',
    id: '1',
    version: '2',
    arguments: [{ name: 'a', type: 'INTEGER', field_id: 3 }],
    mapping_tables: [{ catalog: 'c', namespace: ['s'], table: 'm', known_version: '' }],
  };
  const bound = {
    name: 'c.s.p',
    id: '1',
    version: '2',
    body: 'a > 1',
    arguments: [{ name: 'a', type: 'INTEGER', fieldId: 3 }],
    mappingTables: [{ catalog: 'c', namespace: ['s'], table: 'm' }],
  };
  expect(fromPolicyMessage({ ...message, kind: 'row_access' })).toEqual({ kind: 'row_access', ...bound });
  expect(fromPolicyMessage({ ...message, kind: 'masking' })).toEqual({ kind: 'masking', fieldId: 3, ...bound });
  expect(fromPolicyMessage({ ...message, kind: 'aggregation' })).toEqual({ kind: 'unknown', name: 'c.s.p' });
});
