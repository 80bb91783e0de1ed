import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { decodeTaskHead, encodeTaskSpec } from '#shared/task/task-codec.ts';
import { SkeinError } from '#shared/error.ts';
import { principalId } from '#shared/id.ts';
import { must } from '#shared/must.ts';
import { makeTask } from '#test/support/worker-client.ts';
import { makeSlotPool } from '#test/support/slot-pool.ts';
import type { SlotPool } from './slot-pool.ts';
import type { SlotRun } from './slot-run.ts';

/** Each of its steps, a hundred thousand rows, takes a core for some tenths of a second. */
const LONG_STEPS = 'SELECT max(md5(md5(md5(n::VARCHAR)))) FROM range(1000000000000) AS r(n)';
/** A core for some hundredths of a second. */
const WORK = 'SELECT max(md5(md5(md5(n::VARCHAR)))) FROM range(10000) AS r(n)';

/** More than the express slot takes: the slots have tasks of them, too. */
const INTERACTIVE_CLIENTS = 32;
/** Tasks after which the shares are compared. */
const TASKS = 1_200;
/** As many as there are cores: the express slot has one of them only as others do without. */
const SLOTS = availableParallelism();

let dir: string;
let pool: SlotPool;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'skein-express-'));
  pool = makeSlotPool({
    slots: SLOTS,
    tasksPerSlotMax: 64,
    spillDir: dir,
    idle: { countMax: 16 },
    outputBufferBytes: 1e5,
    sparesMax: 1,
  });
});

afterAll(async () => {
  await pool.close();
  rmSync(dir, { recursive: true, force: true });
});

async function start(sql: string, principal: string, pinnedToTop: boolean): Promise<SlotRun> {
  const spec = decodeTaskHead(await encodeTaskSpec(makeTask(sql, { principal: principalId(principal), pinnedToTop })));
  const waits = { inputsMs: 0, queuedMs: 0 };
  return pool.run({ spec, memoryBytes: 2 ** 27, inputs: [], receivedBytes: 0, waits }, () => undefined);
}

async function took(principal: string, isInteractive: boolean): Promise<number> {
  const startMs = performance.now();
  await (
    await start('SELECT 1', principal, isInteractive)
  ).ended;
  return performance.now() - startMs;
}

async function cancelled(run: SlotRun): Promise<void> {
  run.cancel(new SkeinError('QUERY_CANCELLED', 'enough'));
  await run.ended;
}

/** The time that a quarter of them exceed. Of those that wait for a step more than half may come just between two. */
const slowQuarter = (times: readonly number[]): number =>
  must(times.toSorted((a, b) => a - b)[Math.floor((times.length * 3) / 4)], 'a time');

test('a task of an interactive query does not wait for the step of another, as others do', async () => {
  const batch = await Promise.all(Array.from({ length: SLOTS }, () => start(LONG_STEPS, 'batch', false)));
  const times = { interactive: [] as number[], other: [] as number[] };
  await took('user', true);
  for (let i = 0; i < 15; i++) {
    times.interactive.push(await took('user', true));
    times.other.push(await took('user', false));
  }
  await Promise.all(batch.map(cancelled));
  expect(slowQuarter(times.interactive), JSON.stringify(times)).toBeLessThan(slowQuarter(times.other) / 3);
}, 120_000);

test('whoever sends nothing but interactive queries gets no more than another principal', async () => {
  const done = { interactive: 0, batch: 0 };
  const isEnough = (): boolean => done.interactive + done.batch >= TASKS;
  const client = async (kind: 'interactive' | 'batch'): Promise<void> => {
    while (!isEnough()) {
      await (
        await start(WORK, kind, kind === 'interactive')
      ).ended;
      // The tasks that are left at the end have nobody beside them.
      if (!isEnough()) done[kind] += 1;
    }
  };
  await Promise.all([
    ...Array.from({ length: INTERACTIVE_CLIENTS }, () => client('interactive')),
    ...Array.from({ length: 8 * SLOTS }, () => client('batch')),
  ]);
  const share = done.batch / (done.interactive + done.batch);
  expect(share, JSON.stringify(done)).toBeGreaterThan(0.45);
  expect(share, JSON.stringify(done)).toBeLessThan(0.6);
}, 120_000);
