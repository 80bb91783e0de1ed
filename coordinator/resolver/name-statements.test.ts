import { describe, expect, test } from 'vitest';
import { nameStatements } from './name-statements.ts';

/** The query with `<n>` for the name of statement n, and the statements. */
function named(sql: string): readonly string[] {
  const { text, statements } = nameStatements(sql);
  const names = [...statements.keys()];
  const whole = names.reduce((so, name, i) => so.replace(`FROM "${name}" AS "rows"`, `<${i}>`), text.text);
  return [whole, ...[...statements.values()].map((statement) => statement.text)];
}

describe('statements in brackets get names', () => {
  test.each([
    ['FROM (SHOW TABLES)', ['FROM (<0>)', 'SHOW TABLES']],
    [
      "FROM (show tables from a LIKE 'x)') t, (DESC b)",
      ['FROM (<0>) t, (<1>)', "show tables from a LIKE 'x)'", 'DESC b'],
    ],
    ['FROM ( -- a )\n /* b */ DESCRIBE t )', ['FROM ( -- a )\n /* b */ <0>)', 'DESCRIBE t ']],
    ['FROM (DESCRIBE SELECT (1) FROM (SHOW t))', ['FROM (<0>)', 'DESCRIBE SELECT (1) FROM (SHOW t)']],
    ['FROM ((SHOW t)) WHERE (a) > 1', ['FROM ((<0>)) WHERE (a) > 1', 'SHOW t']],
  ])('%s', (sql, expected) => expect(named(sql)).toEqual(expected));

  test.each([
    'SELECT (x) FROM t ORDER BY (y) DESC',
    `SELECT '(SHOW TABLES)', "(SHOW t)" -- (SHOW t)`,
    'SELECT ("show"), (showing), f(describe_x) FROM t',
    'FROM (SUMMARIZE t)',
    'FROM (SHOW TABLES',
    `SELECT ${'1, '.repeat(30_000)} (SHOW t)`,
  ])('%s has none', (sql) => expect(named(sql)).toEqual([sql]));
});

test('a place behind a name is the place in the query', () => {
  const sql = 'FROM (SHOW TABLES) AS t, u';
  const { text } = nameStatements(sql);
  expect(text.toSource(text.text.indexOf(', u'))).toBe(sql.indexOf(', u'));
  expect(text.toSource(text.text.indexOf('rows'))).toBe(sql.indexOf('SHOW'));
});

test('a query reads so many statements, those within statements counted', () => {
  const within = `${'(DESCRIBE FROM '.repeat(17)}x${')'.repeat(17)}`;
  for (const sql of [`FROM ${'(SHOW t), '.repeat(17)} u`, `FROM ${within}`]) {
    expect(() => nameStatements(sql)).toThrow('a query reads at most 16 SHOW, DESCRIBE and LIST statements');
  }
  expect(nameStatements(`FROM ${'(SHOW t), '.repeat(16)} u`).statements.size).toBe(16);
});

test('a query cannot name its own statements', () => {
  const [first] = nameStatements('FROM (SHOW TABLES)').statements.keys();
  const again = nameStatements(`FROM (SHOW TABLES), "${first ?? ''}"`);
  expect([...again.statements.keys()]).not.toContain(first);
});

test.each([
  ['SELECT $1, t.$2 FROM @s/a.csv AS t', 'SELECT "$1", t."$2" FROM "rows 0" AS t', ['@s/a.csv']],
  ["FROM '@s/a b' (FILE_FORMAT => (TYPE = CSV)) x", 'FROM "rows 0" x', ["'@s/a b' (FILE_FORMAT => (TYPE = CSV))"]],
  ["FROM a JOIN @s (PATTERN => '\\)') USING (b)", 'FROM a JOIN "rows 0" USING (b)', ["@s (PATTERN => '\\)')"]],
  ["SELECT $1 FROM t WHERE a = '@s'", "SELECT $1 FROM t WHERE a = '@s'", []],
  ['SELECT @ 5, $1 FROM t', 'SELECT @ 5, $1 FROM t', []],
  ['SELECT a FROM @s WHERE (a = 1)', 'SELECT a FROM "rows 0" WHERE (a = 1)', ['@s']],
])('stages of %s', (sql, text, stages) => {
  const named = nameStatements(sql);
  expect(named.text.text.replaceAll(/"rows [0-9a-f]{16} /g, '"rows ')).toBe(text);
  expect([...named.statements.values()].map((stage) => stage.text)).toEqual(stages);
});

test('it reads at most 16 stages', () => {
  expect(() => nameStatements(`FROM ${'@s, '.repeat(1)} (FROM @s${' JOIN @s ON true'.repeat(16)})`)).toThrow(
    'a query reads at most 16 stages',
  );
});
