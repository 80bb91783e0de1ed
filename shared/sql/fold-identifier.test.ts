import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { beforeAll, expect, test } from 'vitest';
import { foldIdentifier, foldKeyword } from './fold-identifier.ts';
import { quoteIdentifier } from './quote.ts';

let connection: DuckDBConnection;
beforeAll(async () => {
  connection = await (await DuckDBInstance.create(':memory:')).connect();
});

/** Whether DuckDB treats the two names as equal. */
async function isSameColumn(a: string, b: string): Promise<boolean> {
  try {
    await connection.run(`SELECT ${quoteIdentifier(b)} FROM (SELECT 1 AS ${quoteIdentifier(a)}) LIMIT 0`);
    return true;
  } catch (error) {
    if (/not found in FROM clause/.test(String(error))) return false;
    throw error;
  }
}

test.each([
  ['A', 'a'],
  ['\u212a', 'k'],
  ['\u017f', 's'],
  ['\u0130', 'i'],
  ['I', '\u0131'],
  ['\u00c4', '\u00e4'],
  ['\u00df', 'ss'],
  ['\u03a3', '\u03c3'],
  ['\uff21', '\uff41'],
  ['e\u0301', '\u00e9'],
])('%s and %s are the same for DuckDB and for us, or for neither', async (a, b) => {
  expect(foldIdentifier(a) === foldIdentifier(b)).toBe(await isSameColumn(a, b));
});

test('a keyword is one of ASCII letters', () => {
  expect(['select', 'SeLeCt', '\u017felect', 'table_1'].map(foldKeyword)).toEqual([
    'SELECT',
    'SELECT',
    '\u017fELECT',
    'TABLE_1',
  ]);
});
