import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { InputSource, InputSpec, TaskSpec } from '#proto/task.ts';
import { defaultConfig, type Config } from '#shared/config/config-schema.ts';
import { queryId } from '#shared/id.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { startWorker, type RunningWorker } from './main.ts';
import { makeTask, TestCoordinator } from './test-client.ts';

const SECRET = 'exchange-test';

type Node = { readonly worker: RunningWorker; readonly at: TestCoordinator };

describe('workers that exchange partitions', () => {
  let dataDir: string;
  let nodes: readonly Node[];
  let a: TestCoordinator;
  let b: TestCoordinator;

  const start = async (name: string, overrides: Partial<Config> = {}): Promise<Node> => {
    const worker = await startWorker(
      defaultConfig({
        data_dir: dataDir,
        'cluster.secret': SECRET,
        'worker.name': name,
        'worker.port': 0,
        'worker.cores': 1,
        'worker.memory_limit': 2 ** 30,
        'worker.orphan_timeout': 600_000,
        ...overrides,
      }),
      silentLogger,
    );
    return { worker, at: new TestCoordinator(worker.url, SECRET) };
  };

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'skein-exchange-'));
    const first = await start('a');
    const second = await start('b');
    nodes = [first, second];
    a = first.at;
    b = second.at;
  });

  afterAll(async () => {
    for (const { at, worker } of nodes) {
      at.close();
      await worker.close();
    }
    await rm(dataDir, { recursive: true, force: true });
  });

  const metric = async (node: number, name: string): Promise<number> => {
    const text = await (await fetch(nodes[node]?.worker.metricsUrl ?? '')).text();
    return Number(new RegExp(`^skein_worker_${name}\\{.*\\} (.*)$`, 'm').exec(text)?.[1]);
  };
  const exchangeFiles = async (name: string): Promise<string[]> => {
    const entries = await readdir(join(dataDir, 'spill', name), { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
  };
  const query = (): Pick<TaskSpec, 'queryId'> => ({ queryId: queryId(randomUUID()) });
  const spooled = (partitions: number): TaskSpec['output'] => ({ kind: 'spool', partitions });
  const input = (columns: Record<string, string>, sources: readonly InputSource[], reads = 1): InputSpec => ({
    columns: Object.entries(columns).map(([name, type]) => ({ name, type })),
    sources,
    reads,
  });

  test('a hash exchange between two workers gives every row to one task', async () => {
    const own = query();
    const parts = [0, 1].map((half) =>
      makeTask(
        `SELECT i AS k, 'text of row ' || i AS s, CASE WHEN i % 3 > 0 THEN i END AS n, hash(i) % 3 AS p
         FROM range(${half * 150_000}, ${half * 150_000 + 150_000}) t(i)`,
        { ...own, output: spooled(3) },
      ),
    );
    const producer = (i: number): TestCoordinator => (i === 0 ? a : b);
    for (const report of await Promise.all(parts.map((spec, i) => producer(i).report(spec)))) {
      expect(report.rows).toBe(150_000);
      expect(report.partitions).toHaveLength(3);
      expect(report.partitions.reduce((sum, { rows }) => sum + rows, 0)).toBe(150_000);
    }
    const results = await Promise.all(
      [0, 1, 2].map((partition) => {
        const sources = parts.map((spec, i) => producer(i).source(spec, partition));
        const spec = makeTask(
          [
            'SELECT count(*) AS c, sum(k)::BIGINT AS k, sum(n)::BIGINT AS n, min(hash(k) % 3) AS lo, max(hash(k) % 3) AS hi, ' +
              "count(*) FILTER (s = 'text of row ' || k) AS same FROM ",
            { input: 0 },
            ' AS t',
          ],
          { ...own, inputs: [input({ k: 'BIGINT', s: 'VARCHAR', n: 'BIGINT' }, sources)] },
        );
        return (partition === 0 ? b : a).run(spec);
      }),
    );
    const rows = results.map(({ table }) => table.get(0)?.toJSON() as Record<string, bigint>);
    const total = (name: string): bigint => rows.reduce((sum, row) => sum + (row[name] ?? 0n), 0n);
    expect(total('c')).toBe(300_000n);
    expect(total('same')).toBe(300_000n);
    expect(total('k')).toBe(BigInt((300_000 * 299_999) / 2));
    rows.forEach((row, partition) => expect([row['lo'], row['hi']]).toEqual([BigInt(partition), BigInt(partition)]));
    for (const { report } of results) expect(report.receivedBytes).toBeGreaterThan(1e6);
    expect(await metric(0, 'spool_bytes')).toBeGreaterThan(5e6);
    await Promise.all([a, b].map((each) => each.endQuery(parts[0] as TaskSpec)));
    expect([await metric(0, 'spool_bytes'), await metric(1, 'spool_bytes')]).toEqual([0, 0]);
    expect([await metric(0, 'tasks'), await metric(1, 'tasks')]).toEqual([0, 0]);
    expect(await exchangeFiles('a')).toEqual([]);
  });
});
