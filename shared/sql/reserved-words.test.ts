import { DuckDBInstance } from '@duckdb/node-api';
import { expect, test } from 'vitest';
import { RESERVED_WORDS } from './reserved-words.ts';
import { foldKeyword } from './fold-identifier.ts';

test('the reserved words are those that DuckDB does not take for the alias of a table', async () => {
  const duckdb = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect();
  const rows = (await duckdb.runAndReadAll('SELECT keyword_name FROM duckdb_keywords()')).getRows();
  const refused: string[] = [];
  for (const [word] of rows) {
    const isAlias = await duckdb.extractStatements(`DELETE FROM t AS ${String(word)}`).then(
      () => true,
      () => false,
    );
    if (!isAlias) refused.push(foldKeyword(String(word)));
  }
  expect(refused.toSorted()).toEqual([...RESERVED_WORDS].toSorted());
});
