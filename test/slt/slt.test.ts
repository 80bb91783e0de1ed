import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Cluster } from '#test/support/cluster.ts';
import { sharedFixture } from '#test/support/resources.ts';
import { ClusterEngine } from './cluster-engine.ts';
import { DuckdbEngine } from './duckdb-engine.ts';
import { openFixture, viewTpch } from './fixture.ts';
import { runSlt } from './run-slt.ts';
import { parseSlt } from './slt-file.ts';

const files = (folder: string): readonly string[] => globSync(join(import.meta.dirname, folder, '*.slt')).sort();

let duckdb: DuckDBConnection;
let cluster: Cluster;
let names: Readonly<Record<string, string>>;

beforeAll(async () => {
  [duckdb, { cluster, names }] = await Promise.all([openFixture(), sharedFixture()]);
  await viewTpch(duckdb, cluster);
});

afterAll(() => duckdb?.closeSync());

const JOINS = ['broadcast', 'partitioned'] as const;

/** Runs every query of a file with distribution forced. Without ORDER BY its rows may come in any order. */
async function runForced(file: string, join: (typeof JOINS)[number]): Promise<readonly string[]> {
  const engine = new ClusterEngine(cluster, randomUUID());
  await engine.run("SET skein.distribution = 'force'");
  await engine.run(`SET skein.join_distribution = '${join}'`);
  await engine.run('SET skein.partitions = 3');
  const records = parseSlt(await readFile(file, 'utf8'), names).map((record) =>
    record.kind === 'query' && !/\border\s+by\b/i.test(record.sql) ? ({ ...record, sort: 'rowsort' } as const) : record,
  );
  return runSlt(records, engine);
}

const run = async (file: string, engine: 'duckdb' | 'skein'): Promise<readonly string[]> =>
  runSlt(
    parseSlt(await readFile(file, 'utf8'), names),
    engine === 'duckdb' ? new DuckdbEngine(duckdb) : new ClusterEngine(cluster, randomUUID()),
  );

/**
 * `both` has plain queries, which other suites run on plain DuckDB, too; `statements` has those that are rewritten first
 * or that plain DuckDB refuses.
 */
describe('the same answers as DuckDB', () => {
  for (const file of [...files('both'), ...files('statements')]) {
    test(`${basename(file)} on DuckDB`, async () => expect(await run(file, 'duckdb')).toEqual([]));
    test(`${basename(file)} on a cluster`, async () => expect(await run(file, 'skein')).toEqual([]));
    test.each(JOINS)(`${basename(file)} in fragments, %s joins`, async (join) =>
      expect(await runForced(file, join)).toEqual([]),
    );
  }
});

describe('statements of our own', () => {
  for (const file of files('cluster').filter((name) => !name.endsWith('hostile.slt'))) {
    test(`${basename(file)} on a cluster`, async () => expect(await run(file, 'skein')).toEqual([]));
  }
});
