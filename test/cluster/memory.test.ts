import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { StartedCluster } from '#test/support/cluster.ts';
import { startOwnCluster } from '#test/support/resources.ts';
import { patience } from '#test/support/run/slowness.ts';
import { WorkerMetrics } from '#test/support/worker-metrics.ts';

const MIB = 2 ** 20;
const QUERY_MEMORY_BYTES = 64 * MIB;
/** DuckDB counts memory per core, up to 32 KiB on each before it adds that to what it holds against its limit (`buffer_pool.cpp`). */
const UNCOUNTED_BYTES_MAX = availableParallelism() * 32 * 2 ** 10;

/** Sorts of generated rows are taken for small statements, whose 30 s are too few on a slow machine. */
const WORKLOAD = 'classes: {interactive: {timeout: 10m}}';

let cluster: StartedCluster;
let folder: string;
const sessionId = randomUUID();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'skein-memory-'));
  const workload = join(folder, 'workload.yaml');
  await writeFile(workload, WORKLOAD);
  cluster = await startOwnCluster({
    workers: 2,
    args: ['--worker-cores', '1'],
    env: { SKEIN_WORKER_SPILL_LIMIT: `${256 * MIB}`, SKEIN_COORDINATOR_WORKLOAD_FILE: workload },
  });
  await cluster.sql("SET skein.distribution = 'force'", { sessionId });
  await cluster.sql(`SET skein.query_memory_limit = '${QUERY_MEMORY_BYTES}B'`, { sessionId });
}, 180_000);

afterAll(async () => {
  await cluster?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Sorts so many rows of sixteen bytes. */
const sort = (rows: number): string =>
  `SELECT count(*), max(h) > 0 FROM (SELECT hash(n) AS h FROM range(${rows}) AS r(n) ORDER BY h LIMIT ${rows - 10})`;

test(
  'a query over its limit of memory spills, and is answered',
  async () => {
    const rows = 8_000_000;
    expect(await cluster.sql(sort(rows), { sessionId })).toEqual([[rows - 10, true]]);
    const [line] = await cluster.sql(`EXPLAIN (ANALYZE, FORMAT JSON) ${sort(rows)}`, { sessionId });
    const { fragments } = JSON.parse(line?.[0] as string) as {
      readonly fragments: readonly { readonly spilled_bytes: number; readonly peak_memory_bytes: number }[];
    };
    expect(Math.max(...fragments.map((one) => one.spilled_bytes))).toBeGreaterThan(10 * MIB);
    expect(Math.max(...fragments.map((one) => one.peak_memory_bytes))).toBeLessThanOrEqual(
      QUERY_MEMORY_BYTES + UNCOUNTED_BYTES_MAX,
    );
  },
  patience(240_000),
);

test(
  'over the limit of spilled bytes it ends with the reason, and nothing of it is left',
  async () => {
    const { status, body } = await cluster.query(sort(40_000_000), { sessionId, timeoutMs: patience(200_000) });
    expect([status, body.error]).toEqual([507, 'SPILL_LIMIT']);
    const metrics = WorkerMetrics.of(cluster);
    await metrics.until('skein_worker_tasks', (n) => n === 0, 10_000);
    expect(await metrics.sum('skein_worker_memory_granted_bytes')).toBe(0);
    const entries = await readdir(join(cluster.dataDir, 'spill'), { recursive: true, withFileTypes: true });
    expect(entries.filter((entry) => entry.isFile())).toEqual([]);
    expect(await cluster.sql('SELECT 1', { sessionId })).toEqual([[1]]);
  },
  patience(240_000),
);
