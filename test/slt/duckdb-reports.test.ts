import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Cluster } from '#test/support/cluster.ts';
import { sharedCluster } from '#test/support/resources.ts';
import { REPORTS, type Report } from './duckdb-reports.ts';
import { duckdbAnswers, tryReport } from './try-report.ts';

let cluster: Cluster;

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
});

describe('reports of wrong results of DuckDB', () => {
  const mended = REPORTS.filter(({ remedy, fails }) => remedy !== null || fails === true);
  test.each(mended)('$number: Skein answers as DuckDB without optimizers', (report) => tryReport(cluster, report));

  // When the release changes, a remedy that is needed no longer, and one that is missing, are found here.
  test.each(REPORTS)('$number: DuckDB alone answers wrongly exactly where there is a remedy', async (report) => {
    const { alone, truth } = await duckdbAnswers(report);
    expect(JSON.stringify(alone) === JSON.stringify(truth)).toBe(report.remedy === null);
  });

  test('the documentation lists them all', () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/duckdb.md'), 'utf8');
    const row = ({ number, statement, remedy, fails }: Report): string => {
      const done = fails === true ? 'an internal error, which is `ENGINE_FAULT`' : (remedy ?? 'answered rightly');
      const link =
        typeof number === 'string'
          ? '[none](#found-here)'
          : `[${number}](https://github.com/duckdb/duckdb/issues/${number})`;
      return `| ${link} | \`${statement.replaceAll('|', '\\|')}\` | ${done} |`;
    };
    expect(page.split('\n').filter((line) => line.startsWith('| ['))).toEqual(REPORTS.map(row));
  });
});
