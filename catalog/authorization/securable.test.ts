import { expect, test } from 'vitest';
import { LEVEL_SEPARATOR } from '../metadata/object-name.ts';
import { securableOfPath, THE_TENANT } from './securable.ts';

test('a path names the object of an operation', () => {
  const namespace = ['a', 'b'];
  const params = { prefix: 'c', namespace: namespace.join(LEVEL_SEPARATOR) };
  expect(securableOfPath({})).toBe(THE_TENANT);
  expect(securableOfPath({ prefix: 'c' })).toEqual({ kind: 'catalog', catalog: 'c' });
  expect(securableOfPath({ catalog: 'c' })).toEqual({ kind: 'catalog', catalog: 'c' });
  expect(securableOfPath(params)).toEqual({ kind: 'schema', catalog: 'c', namespace });
  for (const kind of ['table', 'view', 'function', 'stage'] as const) {
    const path = securableOfPath({ ...params, [kind]: 'o', 'plan-id': 'p' });
    expect(path).toEqual({ kind, catalog: 'c', namespace, name: 'o' });
  }
});
