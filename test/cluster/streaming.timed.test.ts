import { readFile } from 'node:fs/promises';
import { beforeAll, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { curl, type CurlAnswer } from '#test/support/curl.ts';
import { sharedCluster } from '#test/support/resources.ts';
import { WorkerMetrics } from '#test/support/worker-metrics.ts';

const MIB = 2 ** 20;
const GROWTH_BYTES_MAX = 200 * MIB;
const ROWS = 20_000_000;
const SLOW_READER_MS = 10_000;

let cluster: Cluster;
let coordinatorPid: number;

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  coordinatorPid = must(
    (await cluster.services()).find((s) => s.kind === 'coordinator'),
    'a coordinator',
  ).pid;
  await cluster.sql('SELECT 1');
});

async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1_024;
}

/** Sends a statement with curl, and watches the coordinator's memory meanwhile. */
async function ask(sql: string, args: readonly string[]): Promise<CurlAnswer & { readonly growthBytes: number }> {
  const before = await residentBytes(coordinatorPid);
  let peak = before;
  const timer = setInterval(() => void residentBytes(coordinatorPid).then((now) => (peak = Math.max(peak, now))), 50);
  const answer = await curl([
    `${cluster.queryUrl}/api/query`,
    `-Hauthorization: Bearer ${await cluster.token()}`,
    '-Hcontent-type: application/json',
    `-d${JSON.stringify({ sql })}`,
    ...args,
  ]);
  clearInterval(timer);
  return { ...answer, growthBytes: peak - before };
}

test('20 million rows through curl: all of them arrive, and the coordinator grows by less than 200 MB', async () => {
  const { tail, bytes, growthBytes, code } = await ask(`SELECT * FROM range(${ROWS})`, []);
  expect(code).toBe(0);
  expect(tail).toContain(`[${ROWS - 1}]]`);
  expect(tail).toContain(`"row_count":${ROWS}`);
  expect(bytes).toBeGreaterThan(ROWS * 8);
  expect(growthBytes).toBeLessThan(GROWTH_BYTES_MAX);
}, 120_000);

test('a client that reads 1 MB/s slows the worker, not the coordinator’s heap', async () => {
  const metrics = WorkerMetrics.of(cluster);
  const slow = ask(`SELECT * FROM range(${ROWS * 100})`, [
    '--limit-rate',
    '1M',
    '--max-time',
    String(SLOW_READER_MS / 1_000),
  ]);
  await new Promise((resolve) => setTimeout(resolve, SLOW_READER_MS / 2));
  const buffered = await metrics.sum('skein_worker_spool_bytes');
  const { growthBytes, code } = await slow;
  const CURL_TIMED_OUT = 28;
  expect(code).toBe(CURL_TIMED_OUT);
  expect(buffered).toBeLessThan(64 * MIB);
  expect(growthBytes).toBeLessThan(GROWTH_BYTES_MAX);
  await metrics.until('skein_worker_tasks', (n) => n === 0, 5_000);
}, 60_000);
