import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';

const MODULE = JSON.stringify(new URL('idle-memory.ts', import.meta.url).href);
/** A thread that makes 60 MB of garbage, and says what its heap has committed from time to time. */
const program = (isReturned: boolean): string => `
  const { parentPort } = require('node:worker_threads');
  const { getHeapStatistics } = require('node:v8');
  import(${MODULE}).then(({ returnMemoryWhenIdle }) => {
    if (${isReturned}) returnMemoryWhenIdle(() => parentPort.postMessage('returned'));
    let kept = Array.from({ length: 1_000_000 }, (_none, i) => ({ i }));
    kept = null;
    setInterval(() => parentPort.postMessage(getHeapStatistics().total_heap_size), 200);
  });`;

/** Megabytes of the thread's heap, once it has said that it has returned some, or after so many words of it. */
async function heapMegabytes(isReturned: boolean, words: number): Promise<number> {
  const worker = new Worker(program(isReturned), { eval: true });
  try {
    let hasReturned = !isReturned;
    for (let i = 0; ; i++) {
      const [said] = (await once(worker, 'message')) as [number | 'returned'];
      if (said === 'returned') hasReturned = true;
      else if (hasReturned && i >= words) return said / 1e6;
    }
  } finally {
    await worker.terminate();
  }
}

test('an idle thread gives the garbage of its heap back, which V8 alone does not', async () => {
  const [returned, kept] = await Promise.all([heapMegabytes(true, 1), heapMegabytes(false, 50)]);
  expect(returned).toBeLessThan(20);
  expect(kept).toBeGreaterThan(40);
});
