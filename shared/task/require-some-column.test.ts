import { expect, test } from 'vitest';
import { foldIdentifier } from '../sql/fold-identifier.ts';
import { requireSomeColumn } from './require-some-column.ts';

test('a file without a wanted column is refused, and both lists are shown', () => {
  const check =
    (given: readonly string[], key = foldIdentifier) =>
    (): void =>
      requireSomeColumn('a.csv', given, ['id', 'name'], key);
  expect(check(['naam', 'ander'])).toThrow(
    'no column of the file a.csv is one of the table: the file has (naam, ander), the table (id, name)',
  );
  expect(check(['x', 'ID'])).not.toThrow();
  expect(check(['x', 'ID'], (name) => name)).toThrow(/\(x, ID\)/);
  expect(check([])).not.toThrow();
});
