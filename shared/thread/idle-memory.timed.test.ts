import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { test } from 'vitest';

const MODULE = JSON.stringify(new URL('idle-memory.ts', import.meta.url).href);

/** A thread that has had 60 MB of objects and none any more, and says what its heap has committed. */
const PROGRAM = `
  const { parentPort } = require('node:worker_threads');
  const { getHeapStatistics } = require('node:v8');
  import(${MODULE}).then(({ returnMemoryWhenIdle }) => {
    returnMemoryWhenIdle();
    let objects = Array.from({ length: 1_000_000 }, (_none, i) => ({ i }));
    const say = () => parentPort.postMessage(getHeapStatistics().total_heap_size / 1e6);
    setTimeout(() => { say(); objects = null; }, 100);
    setInterval(say, 500);
  });`;

/** A thread that works for a while, and whose heap does not grow. */
const WORKING_PROGRAM = `
  const { parentPort } = require('node:worker_threads');
  import(${MODULE}).then(({ returnMemoryWhenIdle }) => {
    returnMemoryWhenIdle(() => parentPort.postMessage('returned'));
    setInterval(() => undefined, 60_000);
    setTimeout(() => {
      const endMs = performance.now() + 1_000;
      while (performance.now() < endMs);
    }, 100);
  });`;

/** V8 alone takes 16 s and more. */
const RETURNED_WITHIN_MS = 10_000;

test.concurrent('an idle thread gives the garbage of its heap back within ten seconds', async ({ expect }) => {
  const worker = new Worker(PROGRAM, { eval: true });
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

test.concurrent('a thread that has worked gives back what is free outside of its heap, too', async ({ expect }) => {
  const worker = new Worker(WORKING_PROGRAM, { eval: true });
  try {
    await once(worker, 'online');
    const signal = AbortSignal.timeout(2 * RETURNED_WITHIN_MS);
    expect(await once(worker, 'message', { signal })).toEqual(['returned']);
  } finally {
    await worker.terminate();
  }
}, 30_000);
