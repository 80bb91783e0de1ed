import { silentLogger } from '#shared/log/logger.ts';
import { SlotPool } from '#worker/slot/slot-pool.ts';
import type { SlotPoolOptions } from '#worker/slot/slot-pool-options.ts';

type Made = Pick<SlotPoolOptions, 'slots' | 'tasksPerSlotMax' | 'spillDir' | 'outputBufferBytes'> & {
  readonly idle: Pick<SlotPoolOptions['idle'], 'countMax'> & Partial<SlotPoolOptions['idle']>;
  readonly sparesMax: number;
};

/** A pool of slots that tells nobody of long quanta, and allows one in a process. */
export const makeSlotPool = ({ idle, sparesMax, ...options }: Made): SlotPool =>
  new SlotPool({
    ...options,
    idle: { bytesMax: 2 ** 28, afterMs: 60_000, ...idle },
    rowCacheBytes: 2 ** 24,
    quanta: {
      longMax: 1,
      ageMaxMs: 30_000,
      overrunMs: 5_000,
      sparesMax,
      onSpares: () => undefined,
      onOverrun: () => undefined,
      onHung: () => undefined,
    },
    log: silentLogger,
  });
