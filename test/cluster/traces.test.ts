import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import type { StartedCluster } from '#test/support/cluster.ts';
import { attributesOf, startOtlpReceiver, type OtlpReceiver, type OtlpSpan } from '#test/support/otlp-receiver.ts';
import { startOwnCluster } from '#test/support/resources.ts';
import { patience } from '#test/support/run/slowness.ts';

/** Traces of statements, from `skein up` to a collector. */
let collector: OtlpReceiver;
let cluster: StartedCluster;
const session = { sessionId: randomUUID() };

beforeAll(async () => {
  collector = await startOtlpReceiver();
  cluster = await startOwnCluster({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } });
  await cluster.load(['tpch', '--scale', '0.01']);
  await cluster.sql("SET skein.distribution = 'force'", session);
  await cluster.sql("SET skein.join_distribution = 'partitioned'", session);
  await cluster.sql("SET skein.partitions = '2'", session);
});
afterAll(async () => {
  await cluster?.stop();
  await collector?.[Symbol.asyncDispose]();
});

/** Sends a statement as part of a trace, and returns the trace's spans once the statement's is among them. */
async function traced(sql: string): Promise<{ readonly root: OtlpSpan; readonly spans: readonly OtlpSpan[] }> {
  const traceId = randomUUID().replaceAll('-', '');
  const response = await fetch(`${cluster.queryUrl}/api/query`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await cluster.token()}`,
      'content-type': 'application/json',
      'x-skein-session': session.sessionId,
      traceparent: `00-${traceId}-00f067aa0ba902b7-01`,
    },
    body: JSON.stringify({ sql }),
  });
  const queryId = response.headers.get('x-skein-query-id');
  await response.text();
  const isRoot = (span: OtlpSpan): boolean => attributesOf(span)['skein.query_id'] === queryId;
  await expect.poll(() => collector.spans.some(isRoot), { timeout: patience(10_000) }).toBe(true);
  const spans = collector.spans.filter((span) => span.traceId === traceId);
  return { root: must(spans.find(isRoot), 'it belongs to its trace'), spans };
}

test('a statement, its plan, its stages and their tasks on both workers, as part of the trace of its client', async () => {
  const { root, spans } = await traced(
    'SELECT count(*) FROM lake.tpch.orders JOIN lake.tpch.lineitem ON o_orderkey = l_orderkey',
  );
  expect(root).toMatchObject({ name: 'select', parentSpanId: '00f067aa0ba902b7' });
  const below = (of: OtlpSpan): readonly OtlpSpan[] => spans.filter(({ parentSpanId }) => parentSpanId === of.spanId);
  const names = below(root).map(({ name }) => name);
  expect(names.slice(0, 3)).toEqual(['plan', 'queue', 'distribute']);
  const stages = below(root).slice(3);
  expect(stages.length).toBeGreaterThan(2);
  const tasks = stages.flatMap(below);
  expect(new Set(tasks.map((task) => attributesOf(task)['skein.worker']))).toEqual(new Set(['worker-1', 'worker-2']));
  expect(spans.length).toBe(1 + 3 + stages.length + tasks.length);
  for (const span of spans) {
    expect(BigInt(span.startTimeUnixNano)).toBeLessThanOrEqual(BigInt(span.endTimeUnixNano));
    expect(BigInt(span.startTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(root.startTimeUnixNano));
    expect(BigInt(span.endTimeUnixNano)).toBeLessThanOrEqual(BigInt(root.endTimeUnixNano));
  }
});

test('a statement that failed says with which code, and so does its task', async () => {
  const { root, spans } = await traced('SELECT CAST(o_comment AS INTEGER) FROM lake.tpch.orders');
  expect(root.status).toEqual({ code: 2, message: 'INVALID_CAST' });
  const task = spans.find(({ name, status }) => name.startsWith('task') && status.code === 2);
  expect(attributesOf(must(task, 'the task that failed'))).toMatchObject({ 'error.type': 'INVALID_CAST' });
});

test('a trace tells of a table with policies what left it, and neither what was read nor what policies look up', async () => {
  await cluster.sql(`CREATE TABLE lake.tpch.shown AS SELECT '1-URGENT' AS priority`);
  await cluster.sql(
    `CREATE ROW ACCESS POLICY lake.tpch.urgent AS (p VARCHAR) RETURNS BOOLEAN -> p IN (SELECT priority FROM lake.tpch.shown)`,
  );
  await cluster.sql('ALTER TABLE lake.tpch.orders ADD ROW ACCESS POLICY lake.tpch.urgent ON (o_orderpriority)');
  for (const how of ['auto', 'apart']) {
    await cluster.sql(`SET skein.policy_tasks = '${how}'`, session);
    const { spans } = await traced(
      'SELECT o_custkey, count(*) FROM lake.tpch.orders WHERE o_totalprice > 0 GROUP BY ALL',
    );
    const told = spans.flatMap((span) => Object.entries(attributesOf(span)));
    expect([how, told.filter(([name]) => name === 'skein.rows').length]).not.toEqual([how, 0]);
    // The table has 15,000 rows.
    expect([how, told.filter(([, value]) => Number(value) === 15_000)]).toEqual([how, []]);
    expect([how, told.filter(([, value]) => String(value).includes('shown'))]).toEqual([how, []]);
  }
});

test('the last statements reach the collector when the cluster stops', async () => {
  await cluster.sql('SELECT 4711');
  const before = collector.spans.length;
  await cluster.stop();
  expect(collector.spans.length).toBeGreaterThan(before);
});
