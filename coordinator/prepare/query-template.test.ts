import { expect, test } from 'vitest';
import { fromTemplate, queryTemplate, toTemplate } from './query-template.ts';

const literalsOf = (sql: string): readonly string[] =>
  queryTemplate(sql)?.literals.map(({ column, op, value }) => `${column} ${op} ${String(value)}`) ?? [];

test.each([
  ['SELECT b FROM t WHERE a = 17', ['a eq 17']],
  ['SELECT b FROM t AS x WHERE x . "A" <> 17 AND lake.s.t.b <= \'x y\' LIMIT 3', ['a ne 17', 'b le x y']],
  ['SELECT (SELECT b FROM t WHERE a>5) FROM t where b<007 and 1 = 1 GROUP BY 1', ['a gt 5', 'b lt 7']],
  ["FROM t WHERE d < date '2020-01-01' AND e = '2020-01-02'", ['d lt 2020-01-01', 'e eq 2020-01-02']],
  ['FROM t WHERE a = 1 AND b + 1 = 2 AND c >= /* = 9 */ 3 -- = 4', ['a eq 1', 'c ge 3']],
])('%s', (sql, literals) => {
  expect(literalsOf(sql)).toEqual(literals);
});

test.each([
  'SELECT 1',
  'SELECT a = 1 FROM t',
  'FROM t WHERE a = 1 OR b = 2',
  'FROM t WHERE a = -1',
  'FROM t WHERE a = 1.5',
  'FROM t WHERE a = 1e3',
  'FROM t WHERE a = 1_000',
  'FROM t WHERE a = 1::TINYINT',
  'FROM t WHERE a = 1 + 1',
  'FROM t WHERE a = 1 AT TIME ZONE 2',
  'FROM t WHERE a + b = 1',
  'FROM t WHERE f(a) = 1',
  'FROM t WHERE NOT a = 1',
  'FROM t WHERE a == 1',
  'FROM t WHERE a < = 1',
  'FROM t WHERE a = 1AND b',
  'FROM t WHERE a = 1234567890123456789',
  "FROM t WHERE a = E'x'",
  "FROM t WHERE a = TIME '12:00'",
  'FROM t WHERE a = DATE',
  "FROM t WHERE a = 'it''s'",
  "FROM t WHERE a = 'x' COLLATE NOCASE",
  "FROM t WHERE a = 'x'\n'y'",
  "FROM t WHERE a LIKE 'x%'",
  'FROM t WHERE a BETWEEN 1 AND 2',
  'FROM t WHERE a IN (1, 2)',
  'FROM t WHERE ä = 1',
  "FROM t WHERE a = 'x",
])('%s has no literals that another may replace', (sql) => {
  expect(queryTemplate(sql)).toBeNull();
});

test('texts that differ in the values of literals have one template, and each its positions in it', () => {
  const [one, other] = ['1', '123456'].map((value) => `SELECT * FROM t AS x WHERE x.a = ${value} AND x.b = 2 LIMIT 3`);
  const [first, second] = [queryTemplate(one ?? ''), queryTemplate(other ?? '')];
  expect(first?.key).toBe(second?.key);
  expect(queryTemplate("SELECT * FROM t AS x WHERE x.a = '1' AND x.b = 2 LIMIT 3")?.key).not.toBe(first?.key);
  for (const word of ['t AS', 'x.a', 'x.b', 'LIMIT']) {
    const position = toTemplate(one?.indexOf(word) ?? 0, first?.literals ?? []);
    expect(fromTemplate(position, second?.literals ?? [])).toBe(other?.indexOf(word));
  }
});
