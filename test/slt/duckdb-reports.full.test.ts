import { beforeAll, describe, test } from 'vitest';
import type { Cluster } from '#test/support/cluster.ts';
import { sharedCluster } from '#test/support/resources.ts';
import { REPORTS } from './duckdb-reports.ts';
import { tryReport } from './try-report.ts';

let cluster: Cluster;

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
});

describe('reports of wrong results of DuckDB that it answers rightly here', () => {
  const others = REPORTS.filter(({ remedy, fails }) => remedy === null && fails !== true);
  test.each(others)('$number: Skein answers as DuckDB without optimizers', (report) => tryReport(cluster, report));
});
