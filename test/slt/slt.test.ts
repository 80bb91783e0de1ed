import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { startCluster, type Cluster } from '#test/support/cluster.ts';
import { createOtherTenant } from '#test/support/other-tenant.ts';
import { tableFiles } from '#test/support/table-files.ts';
import { ClusterEngine } from './cluster-engine.ts';
import { DuckdbEngine } from './duckdb-engine.ts';
import { loadFixture, openFixture } from './fixture.ts';
import { runSlt } from './run-slt.ts';
import { parseSlt } from './slt-file.ts';

/** How long SELECT 1 may take right after a refused statement. */
const NEXT_ANSWER_MS_MAX = 1_000;

const files = (folder: string): readonly string[] => globSync(join(import.meta.dirname, folder, '*.slt')).sort();

let duckdb: DuckDBConnection;
let cluster: Cluster;
let names: Readonly<Record<string, string>>;

beforeAll(async () => {
  [duckdb, cluster] = await Promise.all([openFixture(), startCluster()]);
  await loadFixture(duckdb, cluster);
  const ownFile = must((await tableFiles(cluster, 't', 'employees'))[0], 'employees has a file');
  names = { ...(await createOtherTenant(cluster, ownFile)), own_file: ownFile };
}, 180_000);

afterAll(async () => {
  await cluster?.stop();
  duckdb?.closeSync();
});

const JOINS = ['broadcast', 'partitioned'] as const;

/** Every query of a file cut into fragments, whatever it costs. Without ORDER BY its rows may come in any order. */
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

const run = async (file: string, engine: 'duckdb' | 'skein', probe = false): Promise<readonly string[]> =>
  runSlt(
    parseSlt(await readFile(file, 'utf8'), names),
    engine === 'duckdb' ? new DuckdbEngine(duckdb) : new ClusterEngine(cluster, randomUUID()),
    probe ? nextAnswer : undefined,
  );

async function nextAnswer(): Promise<string | null> {
  const started = performance.now();
  const { status } = await cluster.query('SELECT 1');
  const tookMs = performance.now() - started;
  return status === 200 && tookMs < NEXT_ANSWER_MS_MAX
    ? null
    : `the next SELECT 1: HTTP ${status} after ${tookMs.toFixed(0)} ms`;
}

describe('the same answers as DuckDB', () => {
  for (const file of files('both')) {
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

test('hostile.slt: each statement is refused with its SQLSTATE, and the next query is answered at once', async () => {
  expect(await run(join(import.meta.dirname, 'cluster/hostile.slt'), 'skein', true)).toEqual([]);
}, 300_000);
