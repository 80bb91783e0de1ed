import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { projectRoot } from '#test/support/cluster.ts';
import { readPage, readPromql } from '#test/support/promql.ts';
import { sharedCluster } from '#test/support/resources.ts';

/** The dashboard and the alert rules that are shipped, against the metrics of a running cluster. */
type Panel = { readonly title: string; readonly targets?: readonly { readonly expr: string }[] };
type Rules = {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[];
};

const read = (name: string): string => readFileSync(join(projectRoot, 'monitoring', name), 'utf8');
const dashboard = JSON.parse(read('grafana-dashboard.json')) as { readonly panels: readonly Panel[] };
const alerts = (parse(read('alerts.yaml')) as Rules).groups.flatMap(({ rules }) => rules);
const queries = [
  ...dashboard.panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => [`panel ${title}`, expr] as const),
  ),
  ...alerts.map(({ alert, expr }) => [`alert ${alert}`, expr] as const),
];
/** Labels that Prometheus adds when it scrapes. */
const OF_PROMETHEUS = new Set(['instance', 'job']);

let metrics: ReadonlyMap<string, ReadonlySet<string>>;
let coordinator: string;

beforeAll(async () => {
  const { cluster } = await sharedCluster();
  await cluster.query('SELECT count(*) FROM lake.tpch.nation');
  await cluster.query('SELECT nothing');
  const urls = [`${cluster.catalogUrl}/metrics`, ...cluster.workers().map(({ metricsUrl }) => metricsUrl)];
  coordinator = await (await fetch(`${cluster.queryUrl}/metrics`)).text();
  const pages = await Promise.all(urls.map(async (url) => (await fetch(url)).text()));
  metrics = readPage([coordinator, ...pages].join('\n'));
});

test.each(queries)('%s reads metrics that there are: %s', (_what, expression) => {
  const { selectors, groupedBy } = readPromql(expression);
  expect(selectors.length).toBeGreaterThan(0);
  const labels = new Set(selectors.flatMap(({ metric }) => [...(metrics.get(metric) ?? [])]));
  const missing = [
    ...selectors.flatMap((one) => (metrics.has(one.metric) ? [] : [one.metric])),
    ...selectors.flatMap((one) => one.labels.filter((label) => !metrics.get(one.metric)?.has(label))),
    ...groupedBy.filter((label) => !labels.has(label) && !OF_PROMETHEUS.has(label)),
  ];
  expect(missing).toEqual([]);
});

describe('the check of queries', () => {
  test.each([
    [
      'histogram_quantile(0.9, sum by (le, a) (rate(m_bucket{x="1",y!~"2,}"}[5m]))) > 5',
      { selectors: [{ metric: 'm_bucket', labels: ['x', 'y'] }], groupedBy: ['le', 'a'] },
    ],
    [
      'max(a) - max by (g) (b > 0) > 0',
      {
        selectors: [
          { metric: 'a', labels: [] },
          { metric: 'b', labels: [] },
        ],
        groupedBy: ['g'],
      },
    ],
  ])('reads %s', (expression, read) => {
    expect(readPromql(expression)).toEqual(read);
  });
});

test('queries are counted by class, and no label names a tenant or a user', () => {
  expect(coordinator).toMatch(/^skein_query_wait_seconds_count\{workload_class="interactive"\} [1-9]/m);
  expect(coordinator).toMatch(/^skein_admissions_total\{workload_class="interactive",outcome="admitted"\} [1-9]/m);
  expect(coordinator).toMatch(/^skein_admission_wait_seconds_count\{workload_class="interactive"\} [1-9]/m);
  expect(coordinator).toMatch(/^skein_query_seconds_count\{status="failed",workload_class="none"\} [1-9]/m);
  expect(coordinator).toMatch(/^skein_group_queries_running\{group="root"\} /m);
  expect(coordinator).not.toMatch(/="[^"]*(?:admin|default|rival|observed)[^"]*"/);
});
