import { expect, test } from 'vitest';
import { parameterNames, parametersOf } from './parameters.ts';

test.each([
  ['SELECT 1', []],
  ["SELECT ?, '?' -- ?\n, ?", ['1', '2']],
  ['SELECT $2, $1, $2', ['2', '1']],
  ['SELECT $day, $$x $no$$, $name', ['day', 'name']],
  ["SELECT 'open ?", []],
])('the parameters of %s', (sql, names) => {
  expect(parameterNames(sql)).toEqual(names);
});

test('values are a list or an object, as the statement names them', () => {
  const text = (value: string, type = 'auto', isNull = false) => ({ type, value, isNull });
  expect(parametersOf('SELECT 1', {})).toBeUndefined();
  expect(parametersOf('SELECT $2', { '2': text('2024-02-29', 'DATE') })).toEqual([
    '',
    { type: 'DATE', value: '2024-02-29' },
  ]);
  expect(parametersOf('SELECT ?, ?', { '1': text('12'), '2': text('', 'auto', true) })).toEqual([12, null]);
  expect(parametersOf('SELECT $a', { a: text('12345678901234567890') })).toEqual({ a: '12345678901234567890' });
});
