import { expect, test } from 'vitest';
import { readRelation } from '../catalog-client/relation.ts';
import { relationRows } from './relation-rows.ts';

const relation = (created: string) =>
  readRelation({
    id: '1',
    oid: 16_384,
    namespace_oid: 16_392,
    version: '1',
    namespace: ['a', 'b'],
    name: 't',
    kind: 'TABLE',
    summary: JSON.stringify({ created }),
    storage_summary: '',
    policies: [],
    columns: '',
  });

const LAKE = { catalog: 'lake', isPostgres: false };

test.each([
  ['2024-01-31T12:00:00Z', '2024-01-31T12:00:00Z'],
  ['2024-01-31T12:00:00+02:00', '2024-01-31T10:00:00Z'],
  ['2024-01-31T23:30:00.25-01:00', '2024-02-01T00:30:00.250Z'],
  // From before such texts were refused.
  ['yesterday+02:00', 'yesterday+02:00'],
  ['2024-02-30T12:00:00+02:00', '2024-02-30T12:00:00+02:00'],
])('a table that was created at %s', (created, expected) => {
  expect(relationRows('tables', LAKE, ['table_schema', 'created'])(relation(created))).toEqual([['a.b', expected]]);
});

test('only the columns that are named are made, in their order', () => {
  expect(relationRows('columns', LAKE, ['column_name'])(relation(''))).toEqual([]);
  expect(relationRows('views', LAKE, ['table_name'])(relation(''))).toEqual([]);
  expect(relationRows('tables', LAKE, ['table_type', 'table_name', 'row_count'])(relation(''))).toEqual([
    ['BASE TABLE', 't', null],
  ]);
});
