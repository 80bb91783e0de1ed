import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TPCH_TABLES, tpchFiles } from '#cli/load/tpch.ts';
import type { Planner } from '#coordinator/binding/planner.ts';
import { must } from '#shared/must.ts';
import { openFixture } from '#test/slt/fixture.ts';
import { parseSlt } from '#test/slt/slt-file.ts';
import { planOf } from '#test/support/round-trip.ts';
import { sessionPlanner } from '#test/support/session-planner.ts';

let connection: DuckDBConnection;
let planner: Planner;

beforeAll(async () => {
  planner = await sessionPlanner();
  connection = await openFixture();
  await connection.run('USE memory.t');
  for (const table of TPCH_TABLES) {
    const { paths } = await tpchFiles(table, '0.01', '', AbortSignal.timeout(10_000));
    await connection.run(`CREATE VIEW tpch.${table} AS SELECT * FROM read_parquet('${paths.join("', '")}')`);
  }
}, 60_000);

afterAll(async () => {
  await planner?.close();
  connection?.closeSync();
});

/** Null for a text that DuckDB refuses. */
async function duckdbNames(sql: string): Promise<readonly string[] | null> {
  const prepared = await connection.prepare(sql).catch(() => null);
  if (prepared === null) return null;
  const names = Array.from({ length: prepared.columnCount }, (_, i) => prepared.columnName(i));
  prepared.destroySync();
  return names;
}

async function compare(sql: string): Promise<boolean> {
  const wanted = await duckdbNames(sql);
  if (wanted === null) return false;
  const { names } = await planOf(sql, { connection, planner, schema: 't' });
  expect(names, sql).toEqual(wanted);
  return true;
}

/** Queries around a query whose columns have no names of their own. */
const AROUND: readonly ((query: string) => string)[] = [
  (query) => query,
  (query) => `SELECT (${query}), 1 + (${query}) AS named, (${query}) IS NOT NULL`,
  (query) => `SELECT EXISTS (${query}), NOT EXISTS(${query}) OR true FROM t.employees`,
  (query) => `SELECT 7 IN (SELECT "from".id FROM t.employees AS "from" WHERE EXISTS (${query}))`,
  (query) => `FROM (SELECT DISTINCT CASE WHEN EXISTS (${query}) THEN 1.50::DECIMAL(9, 2) END, DATE '2020-01-01')`,
  (query) =>
    `SELECT (SELECT max(a) FROM (SELECT EXISTS (${query})) AS q(a)) UNION ALL SELECT memory.t.employees.id + 1 FROM t.employees`,
];

describe('columns have the names that DuckDB gives them', () => {
  const lines = readFileSync(join(import.meta.dirname, 'round-trip.sql'), 'utf8')
    .trim()
    .split('\n');
  const queries = {
    'round-trip.sql': lines.filter((line) => !/^(?:--|error: |whole: )/.test(line)),
    ...Object.fromEntries(
      globSync(join(import.meta.dirname, '../slt/both/*.slt'))
        .sort()
        .map((file) => [
          basename(file),
          parseSlt(readFileSync(file, 'utf8')).flatMap((record) => (record.kind === 'query' ? [record.sql] : [])),
        ]),
    ),
  };
  test.each(Object.entries(queries))('%s', { timeout: 120_000 }, async (_, texts) => {
    let compared = 0;
    for (const [i, text] of texts.entries()) {
      const query = text.trim().replace(/;$/, '');
      for (const around of [AROUND[i % AROUND.length], AROUND[3 + (i % 2)]]) {
        if (await compare(must(around, 'a query around')(query))) compared += 1;
      }
    }
    expect(compared).toBeGreaterThan(texts.length);
  });
});
