import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { defaultConfig } from '#shared/config/config-schema.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { startWorker, type RunningWorker } from './main.ts';
import { makeTask, TestCoordinator } from '#test/support/worker-client.ts';

const SECRET = 'timed-test';

let dataDir: string;
let worker: RunningWorker;
let coordinator: TestCoordinator;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'skein-worker-'));
  const config = defaultConfig({
    data_dir: dataDir,
    'cluster.secret': SECRET,
    'worker.port': 0,
    'worker.cores': 2,
    'worker.memory_limit': 2 ** 30,
    'worker.orphan_timeout': 60_000,
  });
  worker = await startWorker(config, silentLogger);
  coordinator = new TestCoordinator(worker.url, SECRET);
});

afterAll(async () => {
  coordinator.close();
  await worker.close();
  await rm(dataDir, { recursive: true, force: true });
});

const metric = async (name: string): Promise<number> => {
  const text = await (await fetch(worker.metricsUrl)).text();
  return Number(new RegExp(`^skein_worker_${name}\\{.*\\} (.*)$`, 'm').exec(text)?.[1]);
};

/** Names of files, not folders, that instances left in their spill folders. */
const spilledFiles = async (): Promise<string[]> => {
  const entries = await readdir(join(dataDir, 'spill'), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
};

test('a cancel ends a running task within 200 ms and leaves nothing', async () => {
  const tookMs: number[] = [];
  for (let i = 0; i < 5; i++) {
    const spec = makeTask('SELECT sum(a.i * b.i) FROM range(10000000) a(i), range(1000000) b(i)');
    const result = coordinator.run(spec).catch((error: unknown) => error);
    await expect.poll(() => metric('tasks_running')).toBe(1);
    const request = { task_id: spec.taskId, code: 'QUERY_TIMEOUT', reason: 'too slow' };
    const startMs = performance.now();
    expect(await coordinator.call('CancelTask', request)).toMatchObject({ found: true });
    tookMs.push(performance.now() - startMs);
    await expect(result).resolves.toMatchObject({ code: 'QUERY_TIMEOUT', message: 'too slow' });
    expect(await metric('tasks')).toBe(0);
    expect(await metric('memory_granted_bytes')).toBe(0);
    expect(await spilledFiles()).toEqual([]);
  }
  expect(tookMs.sort((a, b) => a - b)[2]).toBeLessThan(200);
});

test('small tasks are answered while a long one runs on every slot', async () => {
  const long = [1, 2].map(() => makeTask('SELECT sum(sqrt(a.i * b.i)) FROM range(100000) a(i), range(1000000) b(i)'));
  const ends = long.map((spec) => coordinator.run(spec).catch((error: unknown) => error));
  await expect.poll(() => metric('tasks_running')).toBe(2);
  const times: number[] = [];
  for (let i = 0; i < 30; i++) {
    const startMs = performance.now();
    await coordinator.run(makeTask('SELECT 42'));
    times.push(performance.now() - startMs);
  }
  await Promise.all(long.map((spec) => coordinator.call('CancelTask', { task_id: spec.taskId })));
  await Promise.all(ends);
  expect(times.sort((a, b) => a - b)[10]).toBeLessThan(100);
});
