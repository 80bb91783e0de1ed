import { once } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { patience } from '#test/support/run/slowness.ts';

const MODULE = JSON.stringify(new URL('idle-memory.ts', import.meta.url).href);

/** Program of a thread that allocates 60 MB of objects before or after its start is done, drops them, and reports the committed size of its heap. */
const program = (when: 'before' | 'after'): string => `
  const { parentPort } = require('node:worker_threads');
  const { getHeapStatistics } = require('node:v8');
  import(${MODULE}).then(({ returnMemoryWhenIdle }) => {
    if (${when === 'after'}) returnMemoryWhenIdle({ idleMs: ${IDLE_MS} });
    let objects = Array.from({ length: 1_000_000 }, (_none, i) => ({ i }));
    if (${when === 'before'}) returnMemoryWhenIdle({ idleMs: ${IDLE_MS} });
    const say = () => parentPort.postMessage(getHeapStatistics().total_heap_size / 1e6);
    setTimeout(() => { say(); objects = null; }, 100);
    setInterval(say, 500);
  });`;

/** Program of a thread that drops 60 MB of objects, and reports every call of its allocator's trim, with the time since it began. */
const trims = (idleMs: number): string => `
  const { parentPort } = require('node:worker_threads');
  import(${MODULE}).then(({ returnMemoryWhenIdle }) => {
    let objects = Array.from({ length: 1_000_000 }, (_none, i) => ({ i }));
    returnMemoryWhenIdle({ idleMs: ${idleMs}, afterwards: () => parentPort.postMessage(performance.now()) });
    setTimeout(() => { objects = null; }, 100);
    setInterval(() => undefined, 500);
  });`;

// Without the code under test V8 returns garbage later by itself.
setFlagsFromString('--no-memory-reducer');

const IDLE_MS = 5_000;
const RETURNED_WITHIN_MS = 10_000;

test.concurrent.each([
  { what: 'of its work', when: 'after' },
  { what: 'of its start', when: 'before' },
] as const)('an idle thread gives the garbage $what back within ten seconds', async ({ when }) => {
  const worker = new Worker(program(when), { eval: true });
  try {
    const next = async (): Promise<number> => ((await once(worker, 'message')) as [number])[0];
    expect(await next()).toBeGreaterThan(40);
    const endMs = performance.now() + RETURNED_WITHIN_MS;
    let megabytes: number;
    do megabytes = await next();
    while (megabytes > 20 && performance.now() < endMs);
    expect(megabytes).toBeLessThan(20);
  } finally {
    await worker.terminate();
  }
});

test.concurrent(
  'memory that V8 frees after a collection has returned is given back as well: a second trim follows',
  async () => {
    const worker = new Worker(trims(IDLE_MS), { eval: true });
    try {
      const next = async (): Promise<number> => ((await once(worker, 'message')) as [number])[0];
      const first = await next();
      expect((await next()) - first).toBeGreaterThan(1_000);
    } finally {
      await worker.terminate();
    }
  },
  patience(15_000),
);

test.concurrent(
  'a thread is left as it is until it was idle for the time that is given',
  async () => {
    const worker = new Worker(trims(9_000), { eval: true });
    try {
      expect(((await once(worker, 'message')) as [number])[0]).toBeGreaterThan(9_000);
    } finally {
      await worker.terminate();
    }
  },
  patience(15_000),
);
