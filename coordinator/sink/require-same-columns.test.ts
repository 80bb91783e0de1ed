import { expect, test } from 'vitest';
import type { SqlField } from '../plan/sql-type.ts';
import { requireSameColumns } from './require-same-columns.ts';

const column = (name: string, type: string): SqlField => ({ name, type: { kind: 'scalar', name: type } });
const told = [column('a', 'INTEGER'), column('b', 'VARCHAR')];

test('a query that was planned again has the columns that were told', () => {
  requireSameColumns(told, [column('a', 'INTEGER'), column('b', 'VARCHAR')]);
});

test.each([
  ['another type', [column('a', 'BIGINT'), column('b', 'VARCHAR')]],
  ['another name', [column('a', 'INTEGER'), column('c', 'VARCHAR')]],
  ['one more', [...told, column('c', 'DATE')]],
  ['one less', told.slice(1)],
  ['another order', told.toReversed()],
])('%s is refused', (_what, now) => {
  expect(() => requireSameColumns(told, now)).toThrow(
    expect.objectContaining({ code: 'COLUMNS_CHANGED', entry: expect.objectContaining({ sqlState: '0A000' }) }),
  );
});
