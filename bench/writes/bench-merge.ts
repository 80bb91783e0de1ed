import { startSpark } from '#test/support/spark.ts';
import { startBenchCluster } from '../bench-cluster.ts';
import { printTable } from '../report/print-table.ts';
import { median } from '../report/statistics.ts';
import { writeResult } from '../report/write-result.ts';
import { makeMergeRows, mergeSql } from './changes.ts';

const SCHEMA = 'lake.merges';
const STATEMENT_TIMEOUT_MS = 600_000;

/**
 * MERGE of 2 % of TPC-H's orders, half of them new, beside Spark's on the same catalog and files: in turns, each on a fresh copy of the table
 * that Skein wrote; Spark's session is warm, because the first round does not count.
 */
export async function benchMerge({ scale, runs }: { readonly scale: string; readonly runs: number }): Promise<void> {
  const { cluster } = await startBenchCluster(scale);
  try {
    await using spark = await startSpark(cluster.catalogUrl, await cluster.token());
    await cluster.sql(`CREATE SCHEMA IF NOT EXISTS ${SCHEMA}`);
    const rows = `${SCHEMA}.changes`;
    await makeMergeRows(cluster, rows);
    const engines = {
      skein: (sql: string) => cluster.sql(sql, { timeoutMs: STATEMENT_TIMEOUT_MS }),
      spark: (sql: string) => spark.sql(sql),
    };
    const times: Record<keyof typeof engines, number[]> = { skein: [], spark: [] };
    for (let round = 0; round <= runs; round++) {
      for (const name of ['skein', 'spark'] as const) {
        // Spark keeps what it knows of a name for a while.
        const table = `${SCHEMA}.${name}_${round}`;
        await cluster.sql(`DROP TABLE IF EXISTS ${table} PURGE`);
        await cluster.sql(`CREATE TABLE ${table} AS SELECT * FROM lake.tpch.orders`);
        const started = performance.now();
        await engines[name](mergeSql(table, rows));
        if (round > 0) times[name].push(performance.now() - started);
        await cluster.sql(`DROP TABLE ${table} PURGE`);
        process.stderr.write('.');
      }
    }
    process.stderr.write('\n');
    const [skeinMs, sparkMs] = [median(times.skein), median(times.spark)];
    const ratio = skeinMs / sparkMs;
    await writeResult('merge', {
      table: printTable(
        ['MERGE into orders', 'Skein ms', 'Spark ms', 'ratio'],
        [[`scale ${scale}`, skeinMs.toFixed(0), sparkMs.toFixed(0), ratio.toFixed(2)]],
      ),
      figures: { scale, runs, skeinMs, sparkMs, ratio },
      chart: {
        title: `MERGE into orders at scale ${scale}, median of ${runs}`,
        unit: 'ms',
        labels: ['MERGE'],
        series: [
          { name: 'Skein', color: '#2563eb', values: [skeinMs] },
          { name: 'Spark', color: '#f59e0b', values: [sparkMs] },
        ],
      },
    });
  } finally {
    await cluster.stop();
  }
}
