import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { distribute } from '#coordinator/distributor/distribute.ts';
import type { DistributedPlan, ScanFacts, WholePlan } from '#coordinator/distributor/fragment.ts';
import { separateScans } from '#coordinator/distributor/shape/separate-scans.ts';
import { shapePlan } from '#coordinator/distributor/shape/shape-plan.ts';
import { queryPreparer } from '#coordinator/prepare/prepare-query.ts';
import { sessionPlanner } from '#test/support/session-planner.ts';
import type { ScanBinding } from '#coordinator/binding/scan-binding.ts';
import { icebergScans, SCRIPTED_ASKER, scriptedTables, tablesAlone, TPCH_TABLES } from '../support/scripted/tables.ts';
import type { TableSource } from '#coordinator/binding/table-source.ts';
import { must } from '#shared/must.ts';
import { duckdbTables } from '#test/support/duckdb-tables.ts';
import { tpcdsData } from '#test/tpcds/tpcds.ts';
import { tpcdsFacts, TPCDS_ROWS_100, tpchFacts, tpchRows } from './injected-facts.ts';

const SCALE = 100;
/** The plans are made for two workers of four slots. */
const CLUSTER = {
  workers: [
    { slots: 4, machine: { id: 'a', cores: 4 } },
    { slots: 4, machine: { id: 'b', cores: 4 } },
  ],
} as const;

export type BenchmarkPlan = {
  readonly scans: readonly ScanBinding[];
  readonly plan: DistributedPlan | WholePlan;
};

/** Plans a statement over tables without data that have the statistics of scale 100. */
export type PlanBenchmark = (sql: string) => Promise<BenchmarkPlan>;

export function tpchPlans(): Promise<PlanBenchmark> {
  const script = Object.entries(TPCH_TABLES).map(([name, table]) => {
    const rows = tpchRows(must(name.split('.').at(-1), 'a table'), SCALE);
    return [name, { ...table, rows }] as const;
  });
  return planner(scriptedTables(Object.fromEntries(script)), 'tpch', (scan) => tpchFacts(scan, SCALE));
}

export async function tpcdsPlans(): Promise<PlanBenchmark> {
  const connection = await (await DuckDBInstance.create()).connect();
  await connection.run('CREATE SCHEMA tpcds');
  for (const file of globSync(join(await tpcdsData('0.01'), '*.parquet'))) {
    await connection.run(`CREATE TABLE tpcds.${basename(file, '.parquet')} AS FROM read_parquet('${file}') LIMIT 0`);
  }
  const rows = (table: string): number => must(TPCDS_ROWS_100[table], `the table ${table}`);
  return planner(duckdbTables(connection, rows), 'tpcds', tpcdsFacts);
}

async function planner(
  tables: TableSource,
  schema: string,
  factsOf: (scan: ScanBinding) => ScanFacts,
): Promise<PlanBenchmark> {
  const session = await sessionPlanner();
  const prepare = queryPreparer({ cacheEntries: 0, cacheBytes: 2 ** 26 });
  const context = {
    nowMicros: '1708000000000000',
    timeZone: 'UTC',
    currentUser: 'u',
    currentCatalog: 'lake',
    currentSchema: schema,
  };
  return async (sql) => {
    const signal = AbortSignal.timeout(60_000);
    const query = await prepare({
      sql,
      offset: 0,
      context,
      asker: SCRIPTED_ASKER,
      tables: tablesAlone(tables),
      planner: session,
      signal,
    });
    if (query.plan === null) return { scans: [], plan: { kind: 'whole', reason: 'DuckDB does not print its plan' } };
    const separate = separateScans({ plan: query.plan, scans: query.scans });
    const [{ plan }, scans] = [separate, icebergScans(separate.scans)];
    const facts = {
      scans: scans.map(factsOf),
      stages: new Map(),
      cluster: CLUSTER,
      settings: { distribution: 'auto', joinDistribution: 'auto', partitions: null, stageWidth: 1 },
      nextStage: 1,
    } as const;
    return { scans, plan: distribute(shapePlan(plan), facts) };
  };
}
