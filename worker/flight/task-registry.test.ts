import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TaskSpec } from '#proto/task.ts';
import { systemClock } from '#shared/clock.ts';
import { SkeinError } from '#shared/error.ts';
import { silentLogger as log } from '#shared/log/logger.ts';
import { principalId, queryId, taskId, tenantId } from '#shared/id.ts';
import { MemoryGate } from '../slot/memory-gate.ts';
import { SlotPool } from '../slot/slot-pool.ts';
import { PeerClients } from '../exchange/peer-clients.ts';
import { Spool } from '../spool/spool.ts';
import { SpoolStore } from '../spool/spooled-output.ts';
import { makeTask } from '../test-client.ts';
import { TaskRegistry } from './task-registry.ts';

let dir: string;
let pool: SlotPool;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'skein-tasks-'));
  pool = new SlotPool({
    slots: 1,
    tasksPerSlotMax: 2,
    spillDir: dir,
    instancesIdleMax: 0,
    outputBufferBytes: 1e6,
    log,
  });
});

afterAll(async () => {
  await pool.close();
  rmSync(dir, { recursive: true, force: true });
});

test('a task that is cancelled as it gets its memory does not run', async () => {
  const memory = new MemoryGate(2 ** 30, 10);
  const spool = new Spool(1e6, () => undefined);
  const tasks = new TaskRegistry({
    pool,
    memory,
    spool,
    store: new SpoolStore({ folder: join(dir, 'exchange'), memory: spool, diskBytesMax: 1e6 }),
    peers: new PeerClients({ secret: 's', silenceMs: 1_000 }),
    addresses: new Set(),
    secret: 's',
    tasksMax: 10,
    orphanTimeoutMs: 60_000,
    clock: systemClock,
    log,
  });
  const held = [await memory.acquire(2 ** 30, AbortSignal.timeout(5_000))];
  while (memory.grantedBytes < 2 ** 30) held.push(await memory.acquire(2 ** 20, AbortSignal.timeout(5_000)));
  const ids = {
    queryId: queryId('00000000-0000-4000-8000-000000000001'),
    taskId: taskId('00000000-0000-4000-8000-000000000002'),
    tenant: tenantId('t'),
    principal: principalId('p'),
    epoch: 1,
  };
  const spec: TaskSpec = {
    ...ids,
    sql: ['SELECT 1'],
    scans: [],
    inputs: [],
    keepJoinOrder: false,
    output: { kind: 'stream' },
    context: { nowMicros: '0', timeZone: 'UTC', currentUser: 'u', currentCatalog: '', currentSchema: '' },
    memoryLimitBytes: 2 ** 27,
    spillLimitBytes: 2 ** 20,
    threads: 1,
    scheduledMs: 0,
    pinnedToTop: false,
    profile: false,
  };
  tasks.start(spec, { ...ids, expiresAtMs: Infinity, locations: [], partition: 0 });
  for (const bytes of held) memory.release(bytes);
  const cancelled = tasks.cancel(spec.taskId, new SkeinError('QUERY_CANCELLED', 'no longer wanted'));
  await setImmediate();
  expect(pool.activeTasks).toBe(0);
  expect(await cancelled).toBe(true);
  expect([tasks.size, memory.grantedBytes]).toEqual([0, 0]);
  await tasks.close();
});

test('a cancel that comes after a task has left its slot starts nothing', async () => {
  const run = pool.run(
    { spec: makeTask('SELECT 1'), memoryBytes: 2 ** 27, inputs: [], receivedBytes: 0 },
    () => undefined,
  );
  await run.ended;
  const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  run.cancel(new SkeinError('QUERY_CANCELLED', 'too late'));
  expect(timers()).toBe(before);
});
