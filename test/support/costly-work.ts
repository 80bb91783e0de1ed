import { setTimeout as sleep } from 'node:timers/promises';
import { getHeapSpaceStatistics } from 'node:v8';
import { SkeinError } from '#shared/error.ts';
import { FrameWriter, type Frames } from '#shared/thread/frames.ts';
import { inThread, work } from '#shared/thread/work.ts';

/** Work for the tests of the thread pool, which hangs, crashes or takes much memory. */

const MODULE = new URL(import.meta.url);

export const spin = inThread<null, never>(() => {
  for (;;);
});
export const SPIN = work<null, never>(MODULE, 'spin');

export const fillHeap = inThread<null, never>(() => {
  const kept: object[] = [];
  for (;;) kept.push({ kept: kept.length });
});
export const FILL_HEAP = work<null, never>(MODULE, 'fillHeap');

export const wait = inThread<number, number>(async (ms) => {
  await sleep(ms);
  return ms;
});
export const WAIT = work<number, number>(MODULE, 'wait');

export const fail = inThread<'ours' | 'other', never>((kind) => {
  throw kind === 'ours' ? new SkeinError('INVALID_TABLE_DATA', 'no manifest') : new TypeError('a fault');
});
export const FAIL = work<'ours' | 'other', never>(MODULE, 'fail');

export const numbers = inThread<number, Frames<{ readonly n: bigint }>>(
  (count) => {
    const writer = new FrameWriter<{ readonly n: bigint }>(() => undefined);
    for (let i = 0; i < count; i++) writer.add({ n: BigInt(i) }, 10);
    return writer.finish();
  },
  ({ buffers }) => buffers,
);
export const NUMBERS = work<number, Frames<{ readonly n: bigint }>>(MODULE, 'numbers');

/** Returns the bytes of this thread's young generation, after it has allocated a little. */
export const youngBytes = inThread<null, number>(() => {
  let sum = 0;
  for (let i = 0; i < 1_000_000; i++) sum += [i].length;
  const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
  return sum === 0 ? 0 : (young?.space_size ?? 0);
});
export const YOUNG_BYTES = work<null, number>(MODULE, 'youngBytes');
