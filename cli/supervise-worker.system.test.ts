import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { principalId } from '#shared/id.ts';
import { projectRoot } from '#test/support/cluster.ts';
import { stuckQuery } from '#test/support/stuck-query.ts';
import { gauge } from '#test/support/worker-process.ts';
import { makeTask, TestCoordinator } from '#test/support/worker-client.ts';
import { patience } from '#test/support/run/slowness.ts';

type Line = {
  readonly event: string;
  readonly url: string;
  readonly metrics_url: string;
  readonly pid: number;
  readonly restart_in_ms: number;
  readonly reason: string;
};

const SECRET = 'secret-of-the-cluster';
let dataDir: string;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'skein-supervised-'));
});

afterAll(() => rm(dataDir, { recursive: true, force: true }));

const childrenOf = (pid = 0): readonly number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim().split(' ').map(Number);

test('skein worker starts its process again: at once when it ended itself, later when it died; its end in good order is ours', async () => {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', 'cli/skein.js', 'worker'], {
    cwd: projectRoot,
    env: {
      ...process.env,
      SKEIN_CLUSTER_SECRET: SECRET,
      SKEIN_DATA_DIR: dataDir,
      SKEIN_WORKER_PORT: '0',
      SKEIN_WORKER_CORES: '1',
      SKEIN_WORKER_QUANTUM_OVERRUN: '1s',
      SKEIN_WORKER_ORPHAN_TIMEOUT: '120s',
      SKEIN_LOG_LEVEL: 'error',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<Line> => JSON.parse(String((await lines.next()).value)) as Line;
  try {
    const ready = await next();
    expect(ready.event).toBe('ready');
    const coordinator = new TestCoordinator(ready.url, SECRET);
    const spec = makeTask(stuckQuery(), { principal: principalId('attacker') });
    const hung = coordinator.run(spec).catch(() => undefined);
    await expect
      .poll(() => gauge({ metricsUrl: ready.metrics_url }, 'long_quanta'), { timeout: patience(30_000) })
      .toBe(1);
    const cancelled = { task_id: spec.taskId, code: 'QUERY_TIMEOUT', reason: 'too long' };
    coordinator.call('CancelTask', cancelled).catch(() => undefined);
    await expect.poll(() => childrenOf(child.pid)).toHaveLength(2);
    const [, standby] = childrenOf(child.pid);
    expect(await next()).toMatchObject({
      event: 'exited',
      restart_in_ms: 0,
      reason: 'ended with exit code 75, as ordered',
    });
    const again = await next();
    // The standby that takes over was started before the first process ended.
    expect(again).toMatchObject({ event: 'restarted', pid: standby });
    expect(childrenOf(child.pid)).toEqual([standby]);
    await hung;
    coordinator.close();
    process.kill(again.pid, 'SIGKILL');
    // The ordered end did not count as a fault: the delay is the first one.
    expect(await next()).toMatchObject({ event: 'exited', restart_in_ms: 100 });
    expect(await next()).toMatchObject({ event: 'restarted' });
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  } finally {
    child.kill('SIGKILL');
  }
});
