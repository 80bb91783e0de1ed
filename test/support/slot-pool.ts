import { join } from 'node:path';
import { silentLogger } from '#shared/log/logger.ts';
import { SlotPool } from '#worker/slot/slot-pool.ts';
import type { SlotPoolOptions } from '#worker/slot/slot-pool-options.ts';

type Thread = SlotPoolOptions['thread'];
type Made = Pick<SlotPoolOptions, 'slots' | 'tasksPerSlotMax'> &
  Pick<Thread, 'spillDir' | 'outputBufferBytes'> & {
    readonly idle: Pick<Thread['idle'], 'countMax'> & Partial<Thread['idle']>;
    readonly sparesMax: number;
  };

/** A pool of slots that tells nobody of long quanta, and allows one in a process. */
export const makeSlotPool = ({ idle, sparesMax, spillDir, outputBufferBytes, ...options }: Made): SlotPool =>
  new SlotPool({
    ...options,
    thread: {
      spillDir,
      outputBufferBytes,
      idle: { bytesMax: 2 ** 28, afterMs: 60_000, ...idle },
      rowCacheBytes: 2 ** 24,
      copies: null,
      objects: {
        keptFolder: join(spillDir, 'kept'),
        heldFolder: join(spillDir, 'held'),
        bytesMax: 0,
        holes: 'poisoned',
      },
    },
    onReads: () => undefined,
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
