import { expect, test } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import { readDriverLiterals } from './driver-literals.ts';

test.each([
  [`SELECT a ~ 'b' FROM t`, `SELECT a ~ ('(?s).*(?:' || 'b' || ').*') AS "a ~ 'b'" FROM t`],
  [`SELECT 1 WHERE a!~*$1::text AND b`, `SELECT 1 WHERE a!~('(?si).*(?:' || $1::text || ').*') AND b`],
  [
    `SELECT a ~* f(t.b) OR c ~ (d)`,
    `SELECT a ~ ('(?si).*(?:' || f(t.b) || ').*') OR c ~ ('(?s).*(?:' || (d) || ').*') AS "a ~* f(t.b) OR c ~ (d)"`,
  ],
  [`SELECT lpad(a, f(b, c)), x`, `SELECT lpad( a, f(b, c), ' ') AS lpad, x`],
  [
    `SELECT extract(second FROM a) AS s`,
    `SELECT CAST(CAST(extract(microsecond FROM a) AS DECIMAL(18, 0)) * 0.000001 AS DECIMAL(18, 6)) AS s`,
  ],
  [`SELECT generate_series(1, f(a)) AS b`, `SELECT unnest(generate_series(1, f(a))) AS b`],
  [
    `SELECT d + 1 FROM generate_series(a, b, '1 day') d`,
    `SELECT d + 1 FROM generate_series(a, b, INTERVAL '1 day') d("d")`,
  ],
])('%s', (sql, expected) => {
  const plain = (text: string): string => text.replaceAll(/\s+/g, ' ').replaceAll('( ', '(');
  expect(plain(readDriverLiterals(sql).text)).toBe(plain(expected));
});

test.each([
  `SELECT ~5, a & ~b, a ~~ 'x', a !~~* 'x' FROM t WHERE ~ a = 3`,
  `SELECT format('{}', a), format(b, c), regexp_match(a, b), lpad(a, 2, 'x'), date_part('hour', a), extract(minute FROM a)`,
  `SELECT list_sum(generate_series(1, 3)), d.generate_series FROM generate_series(1, 3) d`,
  `SELECT to_timestamp(a), string_to_array(a), initcap, t.initcap(a)`,
  // Postgres' own parser reads these.
  `SELECT relname ~ '^a' FROM pg_class WHERE initcap('a') = 'A'`,
])('%s stays', (sql) => {
  expect(readDriverLiterals(sql).text).toBe(sql);
});

test.each([
  [`SELECT to_char(a, b)`, 'as a literal', 7],
  [`SELECT 'ä', a ~ CASE WHEN b THEN 'x' END`, '~ takes', 14],
])('%s is refused, at its place', (sql, message, position) => {
  const refused = expect.objectContaining({
    code: 'NOT_SUPPORTED',
    message: expect.stringContaining(message),
    position,
  });
  expect(() => readDriverLiterals(sql)).toThrow(SkeinError);
  try {
    readDriverLiterals(sql);
  } catch (error) {
    expect(error).toEqual(refused);
  }
});
