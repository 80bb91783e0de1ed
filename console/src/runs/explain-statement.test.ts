import { expect, test } from 'vitest';
import { explained } from './explain-statement.ts';

test('a place in the explained text is that in the text of the tab', () => {
  const text = 'SELECT 1;\nSELECT nope';
  const { sql, offset } = explained({ sql: 'SELECT nope', offset: 10 });
  expect(sql).toBe('EXPLAIN (FORMAT JSON) SELECT nope');
  expect(text.slice(offset + sql.indexOf('nope'))).toBe('nope');
});

test('a statement that asks for its plan is asked once, and ANALYZE runs nothing', () => {
  for (const before of [
    'EXPLAIN ',
    'explain analyze ',
    'EXPLAIN ANALYZE VERBOSE ',
    'EXPLAIN (TYPE DISTRIBUTED) ',
    'EXPLAIN(FORMAT JSON)',
  ]) {
    const { sql, offset } = explained({ sql: `${before}SELECT nope`, offset: 0 });
    expect(sql).toBe('EXPLAIN (FORMAT JSON) SELECT nope');
    expect(`${before}SELECT nope`.slice(offset + sql.indexOf('nope'))).toBe('nope');
  }
});
