import { expect, test } from 'vitest';
import { readDriverLiterals } from './driver-literals.ts';

/** The names that are written behind the columns of a statement. */
const namesOf = (sql: string): readonly string[] =>
  [...readDriverLiterals(sql).text.matchAll(/ AS ("(?:[^"]|"")*"|[a-z_]+)(?=,| FROM|\)|$)/g)].map(
    ([, name]) => name ?? '',
  );

test.each([
  [`SELECT btrim(a) || '"!"', coalesce(btrim(a), 'b')`, [`"btrim(a) || '""!""'"`, 'coalesce']],
  [`SELECT DISTINCT ON (btrim(a)) btrim(b) = 'c', d FROM t`, [`"btrim(b) = 'c'"`]],
  [`SELECT DISTINCT (btrim(a)) FROM t`, ['"(btrim(a))"']],
  [`SELECT ALL sum(a) FILTER (WHERE btrim(b) = 'c') OVER (ORDER BY d), 1 FROM t`, ['sum']],
  [`SELECT 1 FROM (SELECT btrim(a) || 'b' FROM t) s`, [`"btrim(a) || 'b'"`]],
  [`SELECT NOT (btrim(a) = 'b')`, [`"NOT (btrim(a) = 'b')"`]],
  [`SELECT btrim(a)[1:2], pg_catalog.btrim(b)`, ['"btrim(a)[1:2]"', 'btrim']],
])('%s', (sql, names) => {
  expect(namesOf(sql)).toEqual(names);
});

test.each([
  `SELECT btrim(a) || 'b' AS c, btrim(a) || 'b' d, btrim(a) AS 'e' FROM t`,
  `SELECT * REPLACE (btrim(a) AS a) FROM t`,
  `SELECT s.t.* EXCLUDE (btrim), COLUMNS(c -> btrim(c) = 'a') FROM t`,
  `SELECT COLUMNS('a.*') || btrim(b) || 'c' FROM t`,
  `SELECT 'a' || b, f(c) FROM t WHERE btrim(a) = 'b'`,
  `INSERT INTO t VALUES (btrim('a'), 'b')`,
])('%s: no column gets a name', (sql) => {
  const written = readDriverLiterals(sql).text;
  expect(written.replaceAll('trim(', 'btrim(')).toBe(sql);
});
