import { beforeAll, describe, expect, test } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import { SCRIPTED_ASKER } from '#test/support/scripted/tables.ts';
import { sessionPlanner } from '#test/support/session-planner.ts';
import type { Planner } from '../binding/planner.ts';
import { prove, type PartKind } from '../statement/proven.ts';

let planner: Planner;
beforeAll(async () => {
  planner = await sessionPlanner();
});

/** Proves parts that stand in a statement one behind the other. @returns 'proven', or the error and the rest of the statement at its place */
async function proven(kind: PartKind, ...parts: readonly string[]): Promise<string> {
  const sql = `é ${parts.join(' ')}`;
  const spans = parts.map((text, i) => ({ text, offset: 2 + parts.slice(0, i).join(' ').length + Math.min(i, 1) }));
  const found = await prove(
    (take) => spans.map((span) => take(kind, span)),
    (open) => planner.checkParts(open, SCRIPTED_ASKER, AbortSignal.timeout(20_000)),
  ).catch((thrown: unknown) => SkeinError.of(thrown));
  if (!(found instanceof SkeinError)) return 'proven';
  return `${found.code}: ${found.message} | ${found.position === undefined ? 'no place' : sql.slice(found.position)}`;
}

describe('parts of a statement', () => {
  test.each([
    ['expression', '1'],
    ['expression', "('a')"],
    ['expression', 'a = 1 AND (SELECT count(*) FROM t WHERE COLUMNS(*) > 1) = 2'],
    ['expression', "'é' || a -- b, c"],
    ['expression', '(1, 2)'],
    ['expression', 'list_transform(l, lambda x, y: x + y)'],
    ['expression', 'id IN (SELECT $1 FROM @stage/a.csv)'],
    ['expression', 'f.$2::INT'],
    ['expression', '(SELECT max(a) FROM t FOR VERSION AS OF 11 AS x)'],
    ['expression', 'sum(a) OVER (PARTITION BY b)'],
    ['tables', 'a, lake.s.b AS c JOIN d USING (id), LATERAL (SELECT 1) -- e'],
    ['tables', '(SHOW TABLES) AS s'],
    ['list', "*, t.*, a AS b, count(*) c, 'd', COLUMNS('x')"],
    ['query', 'SELECT a FROM b UNION ALL (FROM c LIMIT 3) ORDER BY 1'],
  ] as const)('%s: %s', async (kind, part) => {
    expect(await proven(kind, part)).toBe('proven');
  });

  test.each([
    ['expression', '*', 'SYNTAX_ERROR: a star stands for several columns, and one value is wanted here | *'],
    ['expression', 't.*', 'SYNTAX_ERROR: a star stands for several columns, and one value is wanted here | t.*'],
    [
      'expression',
      '1 + COLUMNS(*)',
      'SYNTAX_ERROR: COLUMNS stands for several columns, and one value is wanted here | COLUMNS(*)',
    ],
    [
      'expression',
      '[unnest(l)]',
      'SYNTAX_ERROR: unnest() gives several rows, and one value is wanted here | unnest(l)]',
    ],
    ['expression', '5 WHER', 'SYNTAX_ERROR: syntax error at or near "WHER" | WHER'],
    ['expression', '5 AS x', 'SYNTAX_ERROR: syntax error at or near "AS" | AS x'],
    ['expression', 'a, b', 'SYNTAX_ERROR: syntax error at "," | , b'],
    ['expression', 'a,', 'SYNTAX_ERROR: syntax error at "," | ,'],
    ['expression', '1 +', 'SYNTAX_ERROR: the expression is not complete | '],
    ['expression', '1), (2', 'SYNTAX_ERROR: syntax error at ")" | ), (2'],
    ['expression', '(1]', 'SYNTAX_ERROR: syntax error at "]" | ]'],
    ['expression', '(1', "SYNTAX_ERROR: expected ')' behind this part | "],
    ['expression', '1; SELECT 2', 'SYNTAX_ERROR: syntax error at ";" | ; SELECT 2'],
    [
      'tables',
      't LIMIT 1',
      'SYNTAX_ERROR: only tables stand here: they are not complete, or another clause follows | ',
    ],
    [
      'tables',
      't WINDOW w AS (ORDER BY a)',
      'SYNTAX_ERROR: only tables stand here: they are not complete, or another clause follows | ',
    ],
    [
      'tables',
      't USING SAMPLE 1',
      'SYNTAX_ERROR: only tables stand here: they are not complete, or another clause follows | ',
    ],
    [
      'tables',
      't WHERE a = 1',
      'SYNTAX_ERROR: only tables stand here: they are not complete, or another clause follows | ',
    ],
    [
      'tables',
      't UNION SELECT 1 FROM u',
      'SYNTAX_ERROR: only tables stand here: the statement has no other clause of a query | t UNION SELECT 1 FROM u',
    ],
    [
      'list',
      'a FROM t',
      'SYNTAX_ERROR: only a list of expressions stands here: it is not complete, or another clause follows | ',
    ],
    [
      'list',
      'DISTINCT a',
      'SYNTAX_ERROR: only a list of expressions stands here: the statement has no other clause of a query | DISTINCT a',
    ],
    ['query', 'u CROSS JOIN v', 'SYNTAX_ERROR: syntax error at or near "u" | u CROSS JOIN v'],
    ['query', 'SELECT 1) AS x, (SELECT 2', 'SYNTAX_ERROR: syntax error at ")" | ) AS x, (SELECT 2'],
    [
      'query',
      'DELETE FROM t',
      'NOT_SUPPORTED: only queries are served here; a PIVOT of a long query, or with a query after IN, lists its values: ON x IN (...) | DELETE FROM t',
    ],
  ] as const)('%s: %s is refused', async (kind, part, expected) => {
    expect(await proven(kind, part)).toBe(expected);
  });

  test('the place of a fault is found among several parts', async () => {
    const star = 'SYNTAX_ERROR: a star stands for several columns, and one value is wanted here | *, c';
    expect(await proven('expression', "'é' || a", '(b)', '[ *, c]')).toBe(`${star}]`);
    expect(await proven('expression', "'é' || a", 'b c', 'd')).toBe('SYNTAX_ERROR: syntax error at or near "c" | c d');
    expect(await proven('expression', "'é' || a", 'b, c', 'd')).toBe('SYNTAX_ERROR: syntax error at "," | , c d');
  });

  test('long parts, which the planner alone reads, are judged as short ones are', async () => {
    const long = `a IN (1${', 1'.repeat(30_000)})`;
    expect(await proven('expression', long)).toBe('proven');
    expect(await proven('expression', `${long} AS x`)).toBe('SYNTAX_ERROR: syntax error at or near "AS" | AS x');
    expect(await proven('expression', long.slice(0, -1))).toBe("SYNTAX_ERROR: expected ')' behind this part | ");
    expect(await proven('expression', `${long}) OR (true`)).toBe('SYNTAX_ERROR: syntax error at ")" | ) OR (true');
    expect(await proven('list', `$1${', $1'.repeat(30_000)}, $2 x y`)).toBe(
      'SYNTAX_ERROR: syntax error at or near "y" | y',
    );
  });
});
