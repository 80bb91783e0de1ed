import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { startCluster, type Cluster } from '#test/support/cluster.ts';
import { services, WorkerMetrics } from '#test/support/worker-metrics.ts';

const MIB = 2 ** 20;
const GROWTH_BYTES_MAX = 200 * MIB;
const ROWS = 20_000_000;
const SLOW_READER_MS = 10_000;

let cluster: Cluster;
let coordinatorPid: number;

beforeAll(async () => {
  cluster = await startCluster();
  coordinatorPid = must(
    (await services(cluster)).find((s) => s.kind === 'coordinator'),
    'a coordinator',
  ).pid;
  await cluster.sql('SELECT 1');
});

afterAll(() => cluster?.stop());

async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1_024;
}

/** Runs curl on a statement, keeps the last bytes of the answer, and watches the coordinator's memory meanwhile. */
async function curl(
  sql: string,
  args: readonly string[],
): Promise<{ tail: string; bytes: number; growthBytes: number; code: number }> {
  const before = await residentBytes(coordinatorPid);
  const child = spawn(
    'curl',
    [
      '-s',
      '-S',
      `${cluster.queryUrl}/api/query`,
      '-H',
      `authorization: Bearer ${await cluster.token()}`,
      '-H',
      'content-type: application/json',
      '-d',
      JSON.stringify({ sql }),
      ...args,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let tail = Buffer.alloc(0);
  let bytes = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    tail = Buffer.concat([tail, chunk]).subarray(-200);
  });
  let peak = before;
  const timer = setInterval(() => void residentBytes(coordinatorPid).then((now) => (peak = Math.max(peak, now))), 50);
  const [code] = (await once(child, 'close')) as [number];
  clearInterval(timer);
  return { tail: tail.toString(), bytes, growthBytes: peak - before, code };
}

test('20 million rows through curl: all of them arrive, and the coordinator grows by less than 200 MB', async () => {
  const { tail, bytes, growthBytes, code } = await curl(`SELECT * FROM range(${ROWS})`, []);
  expect(code).toBe(0);
  expect(tail).toContain(`[${ROWS - 1}]]`);
  expect(tail).toContain(`"row_count":${ROWS}`);
  expect(bytes).toBeGreaterThan(ROWS * 8);
  expect(growthBytes).toBeLessThan(GROWTH_BYTES_MAX);
}, 120_000);

test('a client that reads 1 MB/s slows the worker, not the coordinator’s heap', async () => {
  const metrics = await WorkerMetrics.of(cluster);
  const slow = curl(`SELECT * FROM range(${ROWS * 100})`, [
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
