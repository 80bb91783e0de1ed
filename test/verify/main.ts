import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';
import { projectRoot, startCluster, type Cluster } from '#test/support/cluster.ts';
import { orderDifferences, orderedAnswer, type OrderedAnswer } from '#test/support/ordered-answer.ts';
import { refusedFragments } from '#test/support/refused-fragments.ts';
import { tableFiles } from '#test/support/table-files.ts';
import { loadSuite, SUITES, type Suite } from './suites.ts';

type Statement = { readonly name: string; readonly sql: string; readonly expected: OrderedAnswer };

const QUERY_TIMEOUT_MS = 600_000;
const JOINS = ['auto', 'broadcast', 'partitioned'] as const;

/**
 * `npm run verify -- tpch|tpcds [--scale 1] [--workers 1,2,3] [--only q01,q02]`: every statement of the suite with distribution forced
 * and each join distribution, on clusters of so many workers, against plain DuckDB on the same files. Exits 1 when an answer differs.
 */
async function main(args: readonly string[]): Promise<number> {
  const { positionals, values } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      scale: { type: 'string', default: '1' },
      workers: { type: 'string', default: '1,2,3' },
      only: { type: 'string', default: '' },
    },
  });
  const suite = SUITES[positionals[0] ?? ''];
  if (suite === undefined) {
    process.stderr.write('usage: npm run verify -- tpch|tpcds [--scale S] [--workers 1,2,3] [--only NAME,...]\n');
    return 2;
  }
  const dataDir = join(projectRoot, '.cache/verify', `${suite.name}-${values.scale}`);
  await mkdir(dataDir, { recursive: true });
  let statements: readonly Statement[] = [];
  const wrong: string[] = [];
  for (const workers of values.workers.split(',').map(Number)) {
    await using cluster = await startCluster({ dataDir, workers, args: ['--worker-cores', '1'] });
    await loadSuite(cluster, suite, values.scale);
    if (statements.length === 0) statements = await expectedRows(cluster, suite, only(values.only));
    wrong.push(...(await verify(cluster, suite, statements, workers)));
    const refused = await refusedFragments(cluster);
    if (refused > 0)
      wrong.push(`${workers} workers: ${refused} queries ran whole, because DuckDB did not bind a fragment`);
  }
  const runs = statements.length * JOINS.length * values.workers.split(',').length;
  process.stdout.write(`${runs - wrong.length} of ${runs} answers as DuckDB's\n${wrong.join('\n')}\n`);
  return wrong.length === 0 ? 0 : 1;
}

const only = (names: string): ReadonlySet<string> | null => (names === '' ? null : new Set(names.split(',')));

/** Plain DuckDB on the files that Skein's tables have. */
async function expectedRows(
  cluster: Cluster,
  suite: Suite,
  names: ReadonlySet<string> | null,
): Promise<readonly Statement[]> {
  const duckdb = await (await DuckDBInstance.create()).connect();
  try {
    await duckdb.run("SET TimeZone = 'UTC'");
    for (const table of suite.tables) {
      const files = (await tableFiles(cluster, suite.name, table)).map((file) => `'${file}'`);
      await duckdb.run(`CREATE VIEW ${table} AS SELECT * FROM read_parquet([${files.join(', ')}])`);
    }
    const statements: Statement[] = [];
    for (const { name, sql } of await suite.queries()) {
      if (names !== null && !names.has(name)) continue;
      statements.push({ name, sql, expected: await orderedAnswer(duckdb, sql) });
    }
    return statements;
  } finally {
    duckdb.closeSync();
  }
}

async function verify(
  cluster: Cluster,
  suite: Suite,
  statements: readonly Statement[],
  workers: number,
): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (const join of JOINS) {
    const sessionId = randomUUID();
    for (const sql of [
      `USE lake.${suite.name}`,
      "SET skein.distribution = 'force'",
      `SET skein.join_distribution = '${join}'`,
    ])
      await cluster.sql(sql, { sessionId });
    for (const { name, sql, expected } of statements) {
      const difference = await differenceOf(cluster, sessionId, sql, expected);
      process.stderr.write(difference === null ? '.' : `\n${name} `);
      if (difference !== null) wrong.push(`${name}, ${workers} workers, ${join} joins: ${difference}`);
    }
    process.stderr.write(` ${workers} workers, ${join} joins\n`);
  }
  return wrong;
}

async function differenceOf(
  cluster: Cluster,
  sessionId: string,
  sql: string,
  expected: OrderedAnswer,
): Promise<string | null> {
  try {
    const rows = await cluster.sql(sql, { sessionId, timeoutMs: QUERY_TIMEOUT_MS });
    return orderDifferences(rows, expected);
  } catch (error) {
    return error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
  }
}

process.exitCode = await main(process.argv.slice(2));
