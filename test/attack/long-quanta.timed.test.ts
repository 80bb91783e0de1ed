import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { WorkerBeat } from '#proto/generated/skein/worker/v1/WorkerBeat.ts';
import { EXIT } from '#cli/exit-code.ts';
import { principalId } from '#shared/id.ts';
import { stuckQuery } from '#test/support/stuck-query.ts';
import { gauge, startWorkerProcess, type WorkerProcess } from '#test/support/worker-process.ts';
import { makeTask } from '../support/worker-client.ts';

const SECRET = 'secret-of-the-cluster';
/** The slot's other tasks go on after a second; a shared machine needs some time to start a thread. */
const FIRST_WAIT_MS_MAX = 4_000;
const LATER_WAIT_MS_MAX = 1_000;
const attacker = { principal: principalId('attacker') };
const stuck = stuckQuery();
/** Its first rows make the result ready; then one piece of work, which obeys interrupts, goes on until there are rows again. */
const LONG_PIECE = 'SELECT i FROM range(1000000000000) t(i) WHERE i < 400000 OR hash(i) = 3';

let dataDir: string;
let worker: WorkerProcess;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'skein-quanta-'));
  worker = await startWorkerProcess({
    'cluster.secret': SECRET,
    data_dir: dataDir,
    'worker.cores': '1',
    'worker.memory_limit': '2GiB',
    'worker.quantum_max': '6s',
    'worker.quantum_overrun': '2s',
    'worker.orphan_timeout': '120s',
  });
  await worker.at.run(makeTask('SELECT 1'));
});

afterEach(async () => {
  await worker[Symbol.asyncDispose]();
  await rm(dataDir, { recursive: true, force: true });
});

/** Milliseconds until a small query has its answer. */
async function small(overrides: Parameters<typeof makeTask>[1] = {}): Promise<number> {
  const start = performance.now();
  expect((await worker.at.run(makeTask('SELECT 1', overrides))).table.numRows).toBe(1);
  return performance.now() - start;
}

const outcome = (run: Promise<unknown>): Promise<string> =>
  run.then(
    () => 'finished',
    (error: { readonly code: string }) => error.code,
  );

test('nobody waits behind a long quantum: other tasks of its slot, begun or not, go on in another thread', async () => {
  // Begun, and in the middle: it begins again elsewhere, because it has given nothing yet.
  const begun = outcome(worker.at.run(makeTask('SELECT max(hash(n)) FROM range(60000000) AS r(n)')));
  await sleep(100);
  const hung = outcome(worker.at.run(makeTask(stuck, attacker)));
  await sleep(100);
  expect(await small()).toBeLessThan(FIRST_WAIT_MS_MAX);
  expect(await gauge(worker, 'long_quanta')).toBe(1);
  for (let i = 0; i < 5; i++) expect(await small()).toBeLessThan(LATER_WAIT_MS_MAX);
  expect(await begun).toBe('finished');
  // After `worker.quantum_max` it is cancelled by name; it does not obey, so the worker ends.
  expect(['STEP_TOO_LONG', 'WORKER_LOST']).toContain(await hung);
}, 120_000);

test('a principal has one long quantum at a time: its others wait, and nobody else does', async () => {
  const hung = outcome(worker.at.run(makeTask(stuck, attacker)));
  await expect.poll(() => gauge(worker, 'long_quanta'), { timeout: 10_000 }).toBe(1);
  let hasEnded = false;
  const own = outcome(worker.at.run(makeTask('SELECT 2', attacker))).finally(() => (hasEnded = true));
  expect(await small()).toBeLessThan(FIRST_WAIT_MS_MAX);
  expect(await gauge(worker, 'long_quanta')).toBe(1);
  expect(hasEnded).toBe(false);
  await hung;
  expect(['finished', 'WORKER_LOST', 'WORKER_DRAINING']).toContain(await own);
}, 120_000);

test('a quantum older than worker.quantum_max is interrupted, and its statement ends by name; the worker goes on', async () => {
  const long = worker.at.run(makeTask(LONG_PIECE, attacker));
  const error: unknown = await long.catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    code: 'STEP_TOO_LONG',
    message: 'one step of the query took longer than 6000 ms (worker.quantum_max)',
  });
  expect(await small(attacker)).toBeLessThan(LATER_WAIT_MS_MAX);
  await expect.poll(() => gauge(worker, 'long_quanta')).toBe(0);
}, 120_000);

test('a quantum that outlives its interrupt ends the process, which has said before whose it was', async () => {
  const stream = worker.at.attach();
  stream.beat(1);
  const spec = makeTask(stuck, attacker);
  const hung = outcome(worker.at.run(spec));
  await expect.poll(() => gauge(worker, 'long_quanta'), { timeout: 10_000 }).toBe(1);
  const cancelled = worker.at.call('CancelTask', { task_id: spec.taskId, code: 'QUERY_TIMEOUT', reason: 'too long' });
  const cancelledMs = performance.now();
  void cancelled.catch(() => undefined);
  const told = async (field: 'asks_to_end' | 'hung'): Promise<unknown> => {
    for (;;) {
      const { value } = (await stream.beats.next()) as { readonly value: WorkerBeat | undefined };
      if (value?.[field] !== null) return value?.[field];
    }
  };
  const asked = await told('asks_to_end');
  const askedMs = performance.now() - cancelledMs;
  expect(asked).toMatchObject({ query_id: spec.queryId, task_id: spec.taskId });
  // It serves until it may end.
  await sleep(500);
  expect(await small()).toBeLessThan(LATER_WAIT_MS_MAX);
  const permittedMs = performance.now();
  stream.permitEnd(1);
  expect(await told('hung')).toMatchObject({ query_id: spec.queryId, task_id: spec.taskId });
  const onItsWay = outcome(worker.at.run(makeTask('SELECT 1')));
  expect(await worker.ended).toBe(EXIT.ordered);
  expect(await onItsWay).not.toBe('WORKER_DRAINING');
  expect(askedMs + performance.now() - permittedMs).toBeLessThan(5_000);
  expect(await hung).not.toBe('finished');
  stream.end();
}, 120_000);
