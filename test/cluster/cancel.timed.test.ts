import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { sharedCluster } from '#test/support/resources.ts';
import { machineSlowness } from '#test/support/run/machine-speed.ts';
import { WorkerMetrics } from '#test/support/worker-metrics.ts';

/**
 * Queries that take minutes, each in another operation: an aggregate, a join, a sort that spills, a result that its client reads slowly.
 */
const STREAMS = "SELECT n, repeat('y', 200) AS s FROM range(100000000000) AS r(n)";
const LONG_QUERIES = [
  'SELECT max(hash(n)) FROM range(1000000000000) AS r(n)',
  'SELECT count(*) FROM tpch.lineitem a JOIN tpch.lineitem b ON a.l_quantity < b.l_quantity AND a.l_comment <> b.l_comment',
  "SELECT n, repeat('x', 100) || n AS s FROM range(200000000) AS r(n) ORDER BY hash(n) LIMIT 10 OFFSET 100000000",
  STREAMS,
];
const WAYS = ['delete', 'disconnect', 'timeout'] as const;
const ROUNDS = 34;
const TIMEOUT_MS = 400;
/** Late enough that its first rows have been sent. */
const STREAM_TIMEOUT_MS = 1_000;
const P95_MS_MAX = 200;

let cluster: Cluster;
let metrics: WorkerMetrics;

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  metrics = WorkerMetrics.of(cluster);
});

test('over 100 cancels (DELETE, disconnect, timeout) the worker stops within 200 ms at the 95th percentile, on a slow machine as much later', async () => {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    for (const way of WAYS)
      times.push(await cancelOnce(way, must(LONG_QUERIES[round % LONG_QUERIES.length], 'a query')));
  }
  const p95 = must(times.sort((a, b) => a - b).at(Math.ceil(times.length * 0.95) - 1), 'times');
  expect(times.length).toBe(ROUNDS * WAYS.length);
  expect(p95).toBeLessThan(P95_MS_MAX * machineSlowness());
}, 240_000);

test('after the cancels the spool and the spill folders are empty, and the next query is answered', async () => {
  await metrics.until('skein_worker_tasks', (n) => n === 0, 5_000);
  expect(await metrics.sum('skein_worker_spool_bytes')).toBe(0);
  expect(await metrics.sum('skein_worker_memory_granted_bytes')).toBe(0);
  const entries = await readdir(join(cluster.dataDir, 'spill'), { recursive: true, withFileTypes: true });
  expect(entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))).toEqual([]);
  expect(await cluster.sql('SELECT 42')).toEqual([[42]]);
});

test('DELETE of an unknown query and of one that has ended is 404', async () => {
  const queryId = randomUUID();
  expect(await remove(queryId)).toBe(404);
  await cluster.query('SELECT 1', { queryId });
  expect(await remove(queryId)).toBe(404);
});

/** Milliseconds from the cancel (or the moment of the timeout) until no worker runs a task. */
async function cancelOnce(way: (typeof WAYS)[number], sql: string): Promise<number> {
  const queryId = randomUUID();
  const abort = new AbortController();
  const timeoutMs = sql === STREAMS ? STREAM_TIMEOUT_MS : TIMEOUT_MS;
  const started = performance.now();
  const head = fetch(`${cluster.queryUrl}/api/query`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${await cluster.token()}`,
      'x-skein-query-id': queryId,
    },
    body: JSON.stringify({ sql, ...(way === 'timeout' ? { timeout_ms: timeoutMs } : {}) }),
    signal: abort.signal,
  });
  const answer = sql === STREAMS ? undefined : answerOf(head);
  // Its head is sent with its first rows, and the client reads no more until the end; the other queries send nothing before.
  if (sql === STREAMS) await head;
  else await metrics.until('skein_worker_tasks_running', (n) => n > 0, 5_000);
  const cancelled = way === 'timeout' ? started + timeoutMs : performance.now();
  if (way === 'delete') expect(await remove(queryId)).toBe(204);
  if (way === 'disconnect') abort.abort();
  const stopped = await metrics.until('skein_worker_tasks_running', (n) => n === 0, 10_000);
  const whole = { delete: '499 QUERY_CANCELLED', disconnect: 'left', timeout: '408 QUERY_TIMEOUT' }[way];
  expect(await (answer ?? answerOf(head))).toBe(sql === STREAMS && way !== 'disconnect' ? '200, broken off' : whole);
  return Math.max(0, stopped - cancelled);
}

/** The status and the error's code; or how the answer ended otherwise. */
async function answerOf(head: Promise<Response>): Promise<string> {
  let status = 0;
  try {
    const response = await head;
    ({ status } = response);
    const { error } = (await response.json()) as { readonly error?: string };
    return `${status} ${error}`;
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return 'left';
    return error instanceof TypeError && error.message === 'terminated' ? `${status}, broken off` : String(error);
  }
}

async function remove(queryId: string): Promise<number> {
  const authorization = `Bearer ${await cluster.token()}`;
  return (await fetch(`${cluster.queryUrl}/api/query/${queryId}`, { method: 'DELETE', headers: { authorization } }))
    .status;
}
