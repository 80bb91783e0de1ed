import { globSync } from 'node:fs';
import { join } from 'node:path';
import { TPCH_TABLES } from '#cli/load/tpch.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { pythonBin } from '#test/support/python.ts';
import { TPCH_QUERIES } from '#test/tpch/tpch-queries.ts';
import { TPCDS_TABLES, tpcdsData, tpcdsQueries } from '#test/tpcds/tpcds.ts';

/** A benchmark's tables and statements; its name is the namespace. */
export type Suite = {
  readonly name: 'tpch' | 'tpcds';
  readonly tables: readonly string[];
  readonly queries: () => Promise<readonly { readonly name: string; readonly sql: string }[]>;
  readonly load: (cluster: Cluster, scale: string) => Promise<void>;
};

export const SUITES: Readonly<Record<string, Suite>> = {
  tpch: {
    name: 'tpch',
    tables: TPCH_TABLES,
    queries: () => Promise.resolve(TPCH_QUERIES),
    load: async (cluster, scale) => {
      const tools = scale === '0.01' ? {} : { PATH: `${await pythonBin()}:${process.env['PATH'] ?? ''}` };
      await cluster.cliOk(['load', 'tpch', '--scale', scale], tools);
    },
  },
  tpcds: {
    name: 'tpcds',
    tables: TPCDS_TABLES,
    queries: tpcdsQueries,
    load: async (cluster, scale) => {
      const folder = await tpcdsData(scale);
      for (const table of TPCDS_TABLES) {
        const [file = ''] = globSync(join(folder, `${table}.parquet`));
        await cluster.cliOk(['load', 'parquet', file, '--table', `lake.tpcds.${table}`, '--create']);
      }
    },
  },
};

/** Loads the suite unless the cluster has it from an earlier run. */
export async function loadSuite(cluster: Cluster, suite: Suite, scale: string): Promise<void> {
  const last = suite.tables.at(-1) ?? '';
  const { status } = await cluster.query(`SELECT 1 FROM lake.${suite.name}.${last} LIMIT 1`);
  if (status === 200) return;
  process.stderr.write(`loading ${suite.name} at scale ${scale} ...\n`);
  await suite.load(cluster, scale);
}
