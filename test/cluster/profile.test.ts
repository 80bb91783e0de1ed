import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import type { QueryRunProfile, StageProfile } from '#coordinator/profile/profile-types.ts';
import { ApiDocument } from '#test/support/api-document.ts';
import type { Cluster, QueryRequest } from '#test/support/cluster.ts';
import { sharedCluster } from '#test/support/resources.ts';
import { patience } from '#test/support/run/slowness.ts';

/** `GET /api/query-history/{query_id}/profile`: how queries ran, on two workers. Who else of a tenant sees it: `history.system.test.ts`. */
const RIVAL = 'profiled';

type Profile = {
  readonly queryId: string;
  readonly status: string;
  readonly queuedAt: string;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  readonly workload?: { readonly class: string; readonly reasons: readonly string[] };
  readonly queries?: readonly QueryRunProfile[];
};

let cluster: Cluster;
let document: ApiDocument;
/** Distribution is forced in it, with a task for each worker. */
const session = { sessionId: randomUUID() };
const streams: AbortController[] = [];

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  document = new ApiDocument(await (await fetch(`${cluster.queryUrl}/openapi.json`)).json());
  await cluster.sql('CREATE SCHEMA lake.profiled');
  await cluster.sql('CREATE TABLE lake.profiled.parts (k BIGINT, part INT) PARTITIONED BY (part)');
  await cluster.sql('INSERT INTO lake.profiled.parts SELECT i, i % 4 FROM range(2000) AS r(i)');
  await cluster.sql("SET skein.distribution = 'force'", session);
  await cluster.sql("SET skein.join_distribution = 'partitioned'", session);
  await cluster.sql("SET skein.partitions = '2'", session);
});
afterEach(() => {
  for (const stream of streams.splice(0)) stream.abort();
});
afterAll(async () => {
  await cluster.sql('DROP TABLE lake.profiled.parts PURGE');
  await cluster.sql('DROP SCHEMA lake.profiled');
});

/** The answer for a query, checked against the OpenAPI document. */
async function ask(queryId: string, token?: string): Promise<{ readonly status: number; readonly body: Profile }> {
  const path = `/api/query-history/${queryId}/profile`;
  const authorization = `Bearer ${token ?? (await cluster.token())}`;
  const { status, headers, ...response } = await fetch(`${cluster.queryUrl}${path}`, {
    headers: { authorization },
  }).then(async (got) => ({ status: got.status, headers: got.headers, text: await got.text() }));
  document.check({ method: 'GET', path, status, headers, text: response.text });
  return { status, body: JSON.parse(response.text) as Profile };
}

/** Runs a statement, whatever comes of it, and returns the profile of its one query with the rest. */
async function profileOf(
  sql: string,
  request: QueryRequest = {},
): Promise<Profile & { readonly query: QueryRunProfile }> {
  const { queryId } = await cluster.query(sql, request);
  const { body } = await ask(queryId);
  return { ...body, query: must(body.queries?.[0], JSON.stringify(body)) };
}

const JOIN = `SELECT o_orderstatus, count(*) FROM lake.tpch.orders JOIN lake.profiled.parts ON o_orderkey = k
  WHERE part = 2 GROUP BY 1`;
const scanOf = ({ stages }: QueryRunProfile, table: string): StageProfile['scans'][number] =>
  must(
    stages.flatMap(({ scans }) => scans).find((scan) => scan.table === table),
    `a scan of ${table}`,
  );

describe('a join in stages over a scan that is pruned', () => {
  test('plan, class, stages, and what was read and left out', async () => {
    const { query, ...rest } = await profileOf(JOIN, session);
    expect(rest).toMatchObject({ status: 'completed', workload: { class: 'medium', reasons: ['1 join'] } });
    expect(query).toMatchObject({ runs: 'stages', reason: null, starts: 1 });
    expect(query.plan.join('\n')).toMatch(/Join INNER[^]*Scan lake\.profiled\.parts[^]*prunes by: part = 2/);
    // Files of three of four partitions.
    expect(scanOf(query, 'lake.profiled.parts')).toMatchObject({ filesPruned: 3, filesPrunedByPartition: 3 });
    expect(scanOf(query, 'lake.profiled.parts').rowGroups).toBeGreaterThan(0);
    expect(scanOf(query, 'lake.tpch.orders').bytes).toBeGreaterThan(0);
    const last = must(
      query.stages.find(({ output }) => output === 'result'),
      'a stage that gives the result',
    );
    expect(last).toMatchObject({ state: 'done', rows: 3 });
    expect(last.estimatedRows).toBeGreaterThan(0);
    expect(query.stages.every(({ operators }) => operators === undefined)).toBe(true);
  });

  test('each task: where, when, and what its time went to', async () => {
    const { query, queuedAt, endedAt } = await profileOf(JOIN, session);
    const tasks = query.stages.flatMap((stage) => stage.tasks);
    expect(query.stages.every((stage) => stage.tasksDone === stage.tasks.length && stage.tasksOmitted === 0)).toBe(
      true,
    );
    expect(new Set(tasks.map(({ worker }) => worker)).size).toBe(2);
    const lastedMs = Date.parse(endedAt ?? '') - Date.parse(queuedAt);
    for (const task of tasks) {
      expect(task).toMatchObject({ state: 'finished', worker: expect.stringMatching(/^worker-\d$/) });
      const { inputsMs = 0, queuedMs = 0, preparingMs = 0, scheduledMs = 0, blockedMs = 0 } = task;
      expect(scheduledMs).toBeGreaterThan(0);
      expect(task.startMs).toBeGreaterThanOrEqual(0);
      expect(task.startMs + task.elapsedMs).toBeLessThanOrEqual(lastedMs + 2);
      // Each is rounded to a tenth, and the task's own time to whole milliseconds.
      expect(inputsMs + queuedMs + preparingMs + scheduledMs + blockedMs).toBeLessThanOrEqual(task.elapsedMs + 2);
    }
    const { planMs, queuedMs, distributeMs, runMs } = query;
    // They count from the arrival of the request, whose body is read and whose sender is authenticated before it is received.
    expect(planMs + queuedMs + distributeMs + runMs).toBeLessThanOrEqual(lastedMs + 200);
    expect(Math.min(planMs, distributeMs, runMs)).toBeGreaterThan(0);
  });

  test('a batch query has the operators: what they gave, beside what was expected, and their time', async () => {
    await cluster.sql("SET service.workload_class = 'batch'", session);
    const { query, workload } = await profileOf(JOIN, session);
    await cluster.sql("SET service.workload_class = 'auto'", session);
    expect(workload).toMatchObject({ class: 'batch' });
    const operators = query.stages.flatMap((stage) => stage.operators ?? []);
    expect(JSON.stringify(operators)).toMatch(/"name":"HASH_JOIN","rows":[1-9]\d*,"estimated_rows":\d+/);
    expect(query.stages.every((stage) => (stage.operators ?? []).length > 0)).toBe(true);
  });

  test('EXPLAIN ANALYZE adds the operators', async () => {
    const { query } = await profileOf(`EXPLAIN ANALYZE ${JOIN}`, session);
    const texts = query.stages.map(({ operators }) => JSON.stringify(operators));
    expect(texts.join()).toMatch(/"name":"HASH_JOIN","rows":\d+,"estimated_rows":\d+/);
  });
});

test('a query that failed: its stage, its task and the code', async () => {
  const { query, status } = await profileOf('SELECT CAST(o_comment AS INTEGER) FROM lake.tpch.orders');
  expect(status).toBe('failed');
  expect(query).toMatchObject({
    runs: 'whole',
    reason: 'there is little to read',
    stages: [{ state: 'failed', tasksDone: 0, tasks: [{ task: 0, state: 'failed', error: 'INVALID_CAST' }] }],
  });
});

test('a query that runs tells what is known so far, and what was stopped once it is cancelled', async () => {
  const queryId = randomUUID();
  const stream = new AbortController();
  streams.push(stream);
  const authorization = `Bearer ${await cluster.token()}`;
  // It runs until it is aborted, because nobody reads its rows.
  const response = await fetch(`${cluster.queryUrl}/api/query`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json', 'x-skein-query-id': queryId },
    body: JSON.stringify({ sql: 'SELECT range, range + 1 FROM range(500000000)' }),
    signal: stream.signal,
  });
  expect(response.status).toBe(200);
  const { body } = await ask(queryId);
  expect(body).toMatchObject({ status: 'running', endedAt: null });
  expect(body.queries).toMatchObject([
    { runs: 'whole', stages: [{ state: 'running', tasksKnown: 1, tasksDone: 0, tasks: [{ state: 'running' }] }] },
  ]);
  expect((await ask(queryId)).body.queries?.[0]?.runMs).toBeGreaterThan(body.queries?.[0]?.runMs ?? Infinity);
  stream.abort();
  await expect
    .poll(async () => (await ask(queryId)).body, { timeout: patience(10_000) })
    .toMatchObject({
      status: 'cancelled',
      queries: [{ stages: [{ state: 'stopped', tasks: [{ state: 'stopped' }] }] }],
    });
});

test('values that history does not keep are not in the plan', async () => {
  const sql = 'SELECT o_orderkey + ? FROM lake.tpch.orders WHERE o_orderkey < ? LIMIT 3';
  const { query } = await profileOf(sql, { parameters: [987_001, 987_002] });
  expect(query.plan.join('\n')).toMatch(/Scan lake\.tpch\.orders {2}\{rows: 15,000\}/);
  expect(JSON.stringify(query)).not.toContain('98700');
  const { query: shown } = await profileOf('SELECT o_orderkey FROM lake.tpch.orders WHERE o_orderkey < 987002');
  expect(shown.plan.join('\n')).toContain('987002');
});

test('a statement has the queries that it ran, one after the other; without a query its times alone', async () => {
  const { queries = [] } = await profileOf('PIVOT (SELECT part FROM lake.profiled.parts) ON part USING count(*)');
  const ran = queries.map(({ plan, stages: [stage] }) => [plan.join().includes('parts'), stage?.state, stage?.rows]);
  // The values of the pivot, then its one row.
  expect(ran).toEqual([
    [true, 'done', 4],
    [true, 'done', 1],
  ]);
  const { query } = await profileOf('INSERT INTO lake.profiled.parts SELECT 5000, 9');
  expect(query.stages).toMatchObject([{ rows: 1, tasks: [{ state: 'finished' }] }]);
  const { queryId } = await cluster.query('SHOW TABLES FROM lake.profiled');
  const { body } = await ask(queryId);
  expect(Object.keys(body).sort()).toEqual(['endedAt', 'queryId', 'queuedAt', 'startedAt', 'status']);
});

test('another tenant finds no such query, as it finds no such record', async () => {
  await cluster.cliOk(['admin', 'tenant', 'create', RIVAL, '--user', 'mallory']);
  const token = await cluster.token({ tenant: RIVAL, user: 'mallory' });
  const { queryId } = await cluster.query('SELECT 1');
  expect((await ask(queryId)).status).toBe(200);
  const absent = randomUUID();
  const [foreign, none] = [await ask(queryId, token), await ask(absent, token)];
  expect([foreign.status, none.status]).toEqual([404, 404]);
  expect(JSON.stringify(foreign.body).replace(queryId, absent)).toBe(JSON.stringify(none.body));
});
