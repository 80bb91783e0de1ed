import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { InputSource, TaskSpec } from '#shared/task/task.ts';
import { queryId } from '#shared/id.ts';
import { skein } from '#test/support/cluster.ts';
import {
  gauge,
  residentBytes,
  startWorkerProcess,
  workerSettings,
  type WorkerProcess,
} from '#test/support/worker-process.ts';
import { makeTask } from '../support/worker-client.ts';
import { patience } from '#test/support/run/slowness.ts';

const SECRET = 'worker-processes';
const MIB = 2 ** 20;

let dataDir: string;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'skein-workers-'));
});

afterAll(() => rm(dataDir, { recursive: true, force: true }));

const start = (
  name: string,
  settings: Parameters<typeof startWorkerProcess>[0] | object = {},
): Promise<WorkerProcess> =>
  startWorkerProcess({
    ...workerSettings(dataDir, name),
    'cluster.secret': SECRET,
    'worker.cores': '1',
    'worker.orphan_timeout': '600s',
    ...settings,
  });

type Own = Pick<TaskSpec, 'queryId'>;
const query = (): Own => ({ queryId: queryId(randomUUID()) });
const rows = (own: Own, from: number, to: number, partitions: number): TaskSpec =>
  makeTask(
    `SELECT i, i % 1000 AS g, 'a text of some length ' || i AS s, hash(i % 1000) % ${partitions} AS p
     FROM range(${from}, ${to}) t(i)`,
    { ...own, output: { kind: 'spool', partitions } },
  );
const COLUMNS = [
  { name: 'i', type: 'BIGINT' },
  { name: 'g', type: 'BIGINT' },
  { name: 's', type: 'VARCHAR' },
];
const groups = (own: Own, sources: readonly InputSource[], output: TaskSpec['output']): TaskSpec =>
  makeTask(['SELECT g, count(*) AS c, sum(i)::BIGINT AS t, max(s) AS s FROM ', { input: 0 }, ' AS x GROUP BY g'], {
    ...own,
    inputs: [{ columns: COLUMNS, sources, reads: 1 }],
    output,
  });
const filesBelow = async (path: string): Promise<string[]> =>
  (await readdir(path, { recursive: true, withFileTypes: true }).catch(() => []))
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name);

test('two workers group by a hash exchange; a killed one is a lost input, and its rows are made again elsewhere', async () => {
  await using a = await start('a');
  await using b = await start('b');
  const own = query();
  const specs = [rows(own, 0, 300_000, 4), rows(own, 300_000, 600_000, 4)];
  await Promise.all([a.at.report(specs[0] as TaskSpec), b.at.report(specs[1] as TaskSpec)]);
  const sources = (partition: number): InputSource[] => [
    a.at.source(specs[0] as TaskSpec, partition),
    b.at.source(specs[1] as TaskSpec, partition),
  ];
  const results = await Promise.all(
    [0, 1, 2, 3].map((partition) =>
      (partition < 2 ? a : b).at.run(groups(own, sources(partition), { kind: 'stream' })),
    ),
  );
  const groupsSeen = results.flatMap(({ table }) => table.toArray().map((row) => row['g'] as bigint));
  expect(new Set(groupsSeen).size).toBe(1_000);
  expect(groupsSeen).toHaveLength(1_000);
  expect(results.flatMap(({ table }) => table.toArray().map((row) => Number(row['c']))).every((c) => c === 600)).toBe(
    true,
  );

  b.kill('SIGKILL');
  await b.ended;
  const reader = groups(own, sources(0), { kind: 'spool', partitions: 1 });
  expect(await a.at.runTask(reader)).toEqual({ kind: 'lost', address: b.at.url, taskId: specs[1]?.taskId });
  const again = { ...rows(own, 300_000, 600_000, 4) };
  await a.at.report(again);
  const healed = groups(own, [a.at.source(specs[0] as TaskSpec, 0), a.at.source(again, 0)], { kind: 'stream' });
  expect((await a.at.run(healed)).table.numRows).toBe(results[0]?.table.numRows);
  await a.at.endQuery(reader);
  expect([await gauge(a, 'spool_bytes'), await gauge(a, 'tasks')]).toEqual([0, 0]);
});

test('what a killed worker had in files is gone when it starts again', async () => {
  const settings = { 'worker.spool_memory_limit': '1MB' };
  const spec = rows(query(), 0, 300_000, 4);
  {
    await using worker = await start('files', settings);
    await worker.at.report(spec);
    expect(await gauge(worker, 'spool_disk_bytes')).toBeGreaterThan(5 * MIB);
    worker.kill('SIGKILL');
    await worker.ended;
  }
  expect((await filesBelow(join(dataDir, 'files', 'spill'))).length).toBeGreaterThan(0);
  await using again = await start('files', settings);
  expect(await filesBelow(join(dataDir, 'files', 'spill'))).toEqual([]);
  await expect(again.at.partition(`${again.at.ticket(spec)}@0`)).rejects.toMatchObject({ code: 'WORKER_LOST' });
});

test('SIGTERM and skein worker drain end a worker when its queries have ended, and not before', async () => {
  for (const how of ['SIGTERM', 'command'] as const) {
    await using worker = await start(`drain-${how}`);
    const own = query();
    const spec = rows(own, 0, 1_000, 2);
    await worker.at.report(spec);
    const command =
      how === 'command'
        ? skein(['worker', 'drain', worker.at.url], { env: { SKEIN_CLUSTER_SECRET: SECRET } })
        : worker.kill('SIGTERM');
    const refused = (): Promise<unknown> => worker.at.runTask(rows(own, 0, 1, 2)).catch((error: unknown) => error);
    await expect.poll(refused, { timeout: patience(30_000) }).toMatchObject({ code: 'WORKER_DRAINING' });
    expect((await worker.at.partition(`${worker.at.ticket(spec)}@0`)).table.numRows).toBeGreaterThan(0);
    await worker.at.endQuery(spec);
    expect(await worker.ended).toBe(0);
    expect(await command).toMatchObject(how === 'command' ? { code: 0, stdout: `${worker.at.url} is drained\n` } : {});
  }
});

test.runIf(process.platform === 'linux')(
  'many queries at once stay within the memory of the worker',
  async () => {
    const limitBytes = 512 * MIB;
    await using worker = await start('memory', { 'worker.memory_limit': '512MiB', 'worker.cores': '2' });
    await worker.at.run(makeTask('SELECT 1'));
    const idleBytes = residentBytes(worker.pid);
    let peakBytes = 0;
    const watch = setInterval(() => (peakBytes = Math.max(peakBytes, residentBytes(worker.pid))), 20);
    // Each query sorts or groups 100 MB and returns 25 MB; twelve at once need three times the memory.
    const one = async (): Promise<void> => {
      const own = query();
      const made = rows(own, 0, 400_000, 3);
      await worker.at.report(made);
      const sources = [0, 1, 2].map((partition) => worker.at.source(made, partition));
      const spec = makeTask(
        ['SELECT count(*) AS c FROM (SELECT s, hash(s) AS h FROM ', { input: 0 }, ' AS x ORDER BY h LIMIT 390000)'],
        {
          ...own,
          inputs: [{ columns: COLUMNS, sources, reads: 1 }],
        },
      );
      expect((await worker.at.run(spec)).table.get(0)?.toJSON()).toEqual({ c: 390_000n });
      await worker.at.endQuery(made);
    };
    await Promise.all(Array.from({ length: 12 }, one));
    clearInterval(watch);

    expect(peakBytes - idleBytes).toBeLessThan(limitBytes);
    expect([await gauge(worker, 'spool_bytes'), await gauge(worker, 'spool_disk_bytes')]).toEqual([0, 0]);
    await expect.poll(() => gauge(worker, 'memory_granted_bytes')).toBe(0);
  },
  300_000,
);
