import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { decodeTaskHead, encodeTaskSpec } from '#shared/task/task-codec.ts';
import type { SentTask } from '#shared/task/task.ts';
import { plainSecurity } from '#shared/grpc/channel-security.ts';
import { fixedKeyring } from '#shared/keyring.ts';
import { systemClock } from '#shared/clock.ts';
import { SkeinError } from '#shared/error.ts';
import { silentLogger as log } from '#shared/log/logger.ts';
import { principalId, queryId, taskId, tenantId } from '#shared/id.ts';
import { MemoryGate } from '../slot/memory-gate.ts';
import type { SlotPool } from '../slot/slot-pool.ts';
import { PeerClients } from '../exchange/peer-clients.ts';
import { Spool } from '../spool/spool.ts';
import { SpoolStore } from '../spool/spooled-output.ts';
import type { Ticket } from '#shared/ticket.ts';
import { makeTask } from '#test/support/worker-client.ts';
import { makeSlotPool } from '#test/support/slot-pool.ts';
import { TaskRegistry } from './task-registry.ts';
import { patience } from '#test/support/run/slowness.ts';

let dir: string;
let pool: SlotPool;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'skein-tasks-'));
  pool = makeSlotPool({
    slots: 1,
    tasksPerSlotMax: 2,
    spillDir: dir,
    idle: { countMax: 2 },
    outputBufferBytes: 1e6,
    sparesMax: 1,
  });
});

afterAll(async () => {
  await pool.close();
  rmSync(dir, { recursive: true, force: true });
});

const ids = {
  queryId: queryId('00000000-0000-4000-8000-000000000001'),
  taskId: taskId('00000000-0000-4000-8000-000000000002'),
  tenant: tenantId('t'),
  principal: principalId('p'),
  epoch: 1,
};
const spec: SentTask = {
  ...ids,
  access: [],
  body: Buffer.from('{"sql":["SELECT 1"],"scans":[]}\n'),
  inputs: [],
  keepJoinOrder: false,
  output: { kind: 'stream' },
  context: { nowMicros: '0', timeZone: 'UTC', currentUser: 'u', currentCatalog: '', currentSchema: '' },
  memoryLimitBytes: 2 ** 27,
  spillLimitBytes: 2 ** 20,
  threads: 1,
  scheduledMs: 0,
  pinnedToTop: false,
  killRank: null,
  profile: 'none',
  bounds: [],
  collected: false,
};

function registry(orphanTimeoutMs: number) {
  const memory = new MemoryGate(2 ** 29, 10);
  const spool = new Spool(1e6, () => undefined);
  const store = new SpoolStore({ folder: join(dir, 'exchange'), memory: spool, diskBytesMax: 1e9 });
  const tasks = new TaskRegistry({
    pool,
    memory,
    spool,
    store,
    peers: new PeerClients({ security: plainSecurity(fixedKeyring('s')), silenceMs: 1_000 }),
    addresses: new Set(),
    keyring: fixedKeyring('s'),
    tasksMax: 10,
    orphanTimeoutMs,
    clock: systemClock,
    log,
  });
  return { tasks, memory, spool, store };
}

const ticketFor = ({ taskId: task }: SentTask): Ticket => ({
  ...ids,
  taskId: task,
  expiresAtMs: Infinity,
  grants: [],
  partition: 0,
});

/** A registry with one task, which waits until `held` is released. */
async function waitingTask(orphanTimeoutMs: number) {
  const { tasks, memory } = registry(orphanTimeoutMs);
  const held = [await memory.acquire(spec, 2 ** 29, AbortSignal.timeout(5_000))];
  while (memory.grantedBytes < 2 ** 29) held.push(await memory.acquire(spec, 2 ** 20, AbortSignal.timeout(5_000)));
  void tasks.stream(new AbortController().signal, spec, ticketFor(spec));
  return { tasks, memory, held };
}

const action = fc.record({
  kind: fc.constantFrom('stream', 'attach', 'run', 'callerGone', 'read', 'cancel', 'endQuery', 'wait', 'drain'),
  task: fc.integer({ min: 0, max: 3 }),
});

test('after any sequence of calls nothing of a task is left, and nothing was freed twice', async () => {
  const rows = 'SELECT i, i::VARCHAR, (i % 3)::UINTEGER FROM range(60000) t(i)';
  const sent = (number: number, output: SentTask['output']): SentTask => ({
    ...spec,
    taskId: taskId(`00000000-0000-4000-8000-00000000001${number}`),
    body: Buffer.from(`${JSON.stringify({ sql: [rows], scans: [] })}\n`),
    memoryLimitBytes: 2 ** 26,
    output,
  });
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 14 }), async (actions) => {
      const { tasks, memory, spool, store } = registry(60_000);
      const calls: { readonly task: number; readonly abort: AbortController; readonly end: Promise<unknown> }[] = [];
      for (const { kind, task } of actions) {
        const streamed = sent(task, { kind: 'stream' });
        const spooled = sent(task, { kind: 'spool', partitions: 3 });
        const abort = new AbortController();
        if (kind === 'attach') await Promise.try(() => tasks.attach(ticketFor(streamed))).catch(refused);
        if (kind === 'stream') {
          calls.push({ task, abort, end: tasks.stream(abort.signal, streamed, ticketFor(streamed)).catch(refused) });
        }
        if (kind === 'run') {
          calls.push({ task, abort, end: tasks.run(abort.signal, spooled, ticketFor(spooled)).catch(refused) });
        }
        if (kind === 'callerGone') calls.find((call) => call.task === task)?.abort.abort();
        if (kind === 'read') tasks.finish(streamed.taskId);
        if (kind === 'cancel') void tasks.cancel(streamed.taskId, new SkeinError('QUERY_CANCELLED', 'enough'));
        if (kind === 'endQuery' && task === 0) void tasks.endQuery(ids.queryId);
        if (kind === 'wait') await sleep(task * 20);
        if (kind === 'drain' && task === 0) void tasks.drain();
      }
      await tasks.close();
      await Promise.all(calls.map((call) => call.end));
      expect([tasks.size, tasks.active, spool.bytes, store.diskBytes, memory.grantedBytes]).toEqual([0, 0, 0, 0, 0]);
      await tasks.drained;
    }),
    { numRuns: 40 },
  );
}, 60_000);

const refused = (error: unknown): void => {
  expect(['QUERY_CANCELLED', 'WORKER_DRAINING', 'INVALID_REQUEST', 'WORKER_LOST']).toContain(SkeinError.of(error).code);
};

test('a task that is cancelled as it gets its memory does not run', async () => {
  const { tasks, memory, held } = await waitingTask(60_000);
  for (const grant of held) grant.release();
  const cancelled = tasks.cancel(spec.taskId, new SkeinError('QUERY_CANCELLED', 'no longer wanted'));
  await setImmediate();
  expect(pool.activeTasks).toBe(0);
  expect(await cancelled).toBe(true);
  expect([tasks.size, memory.grantedBytes]).toEqual([0, 0]);
  await tasks.close();
});

test('a worker that hangs does not take the coordinator for silent, whose beat waits in the socket', async () => {
  const { tasks } = await waitingTask(400);
  const server = createServer((socket) => socket.on('data', () => tasks.hear(1))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const coordinator = connect((server.address() as AddressInfo).port, '127.0.0.1');
  await Promise.all([once(server, 'connection'), once(coordinator, 'connect')]);
  coordinator.write('beat');
  const end = performance.now() + 600;
  while (performance.now() < end);
  // Several turns of the event loop: for the timer, the socket, and work that a timer postpones.
  for (let turn = 0; turn < 5; turn++) await setImmediate();
  expect(tasks.size).toBe(1);
  await vi.waitFor(() => expect(tasks.size).toBe(0), { timeout: patience(5_000) });
  coordinator.destroy();
  server.close();
  await tasks.close();
});

test('a cancel that comes after a task has left its slot starts nothing', async () => {
  const run = pool.run(
    {
      spec: decodeTaskHead(await encodeTaskSpec(makeTask('SELECT 1'))),
      memoryBytes: 2 ** 27,
      inputs: [],
      receivedBytes: 0,
      waits: { inputsMs: 0, queuedMs: 0 },
    },
    () => undefined,
  );
  await run.ended;
  const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  run.cancel(new SkeinError('QUERY_CANCELLED', 'too late'));
  expect(timers()).toBe(before);
});
