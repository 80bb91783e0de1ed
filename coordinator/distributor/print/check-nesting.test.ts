import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, test } from 'vitest';
import { checkNesting } from './check-nesting.ts';

const nested = (levels: number, before: string, after: string, core: string): string =>
  before.repeat(levels) + core + after.repeat(levels);

/** Shapes of what the printer writes, with levels that must pass. */
const SHAPES: readonly (readonly [name: string, enough: number, make: (levels: number) => string])[] = [
  ['subqueries', 200, (n) => nested(n, 'SELECT t.c0 AS c0 FROM (', ') AS t', 'SELECT 1 AS c0')],
  ['unions', 200, (n) => nested(n, 'SELECT t.c0 AS c0 FROM ((', ') UNION ALL (SELECT 2)) AS t', 'SELECT 1 AS c0')],
  ['casts', 300, (n) => `SELECT ${nested(n, 'CAST(', ' AS INTEGER)', '1')}`],
  ['cases', 200, (n) => `SELECT ${nested(n, 'CASE WHEN true THEN 1 ELSE ', ' END', '1')}`],
  ['conjunctions', 150, (n) => `SELECT ${nested(n, '(true AND (false OR ', '))', 'true')}`],
  ['EXISTS', 50, (n) => `SELECT 1 WHERE ${nested(n, 'EXISTS (SELECT 1 WHERE ', ')', 'true')}`],
  ['ANY', 50, (n) => `SELECT 1 WHERE ${nested(n, '(1 = ANY (SELECT 1 WHERE ', '))', 'true')}`],
  [
    'joins to the right',
    50,
    (n) =>
      `SELECT 1 FROM ${nested(n, '(SELECT 1) AS t INNER JOIN (', ') ON (true)', '(SELECT 1) AS u INNER JOIN (SELECT 1) AS v ON (true)')}`,
  ],
];

describe('DuckDB parses every text that passes', () => {
  test.each(SHAPES)('%s', async (name, enough, make) => {
    const connection = await (await DuckDBInstance.create(':memory:')).connect();
    const passes = (levels: number): boolean => {
      try {
        checkNesting([make(levels)]);
        return true;
      } catch {
        return false;
      }
    };
    expect(passes(enough), name).toBe(true);
    expect(passes(1_000)).toBe(false);
    let most = enough;
    while (passes(most + 1)) most += 1;
    await expect(connection.extractStatements(make(most))).resolves.toBeDefined();
    connection.closeSync();
  });
});

test('parentheses in texts and names count for nothing', () => {
  expect(() => checkNesting([`SELECT '${'('.repeat(2_000)}' AS "${'('.repeat(2_000)}"`])).not.toThrow();
});

test('a literal of many megabytes is skipped', () => {
  expect(() => checkNesting([`SELECT '${'x'.repeat(20_000_000)}((''' AS c0`])).not.toThrow();
});
