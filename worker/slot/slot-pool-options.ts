import type { Logger } from '#shared/log/logger.ts';
import type { ReadsMessage } from '../disk-cache/copied-files.ts';
import type { HungQuantum } from './hung-quantum.ts';
import type { SlotSettings } from '../turns/slot-messages.ts';

export type SlotPoolOptions = {
  readonly slots: number;
  readonly tasksPerSlotMax: number;
  /** Settings of each slot's thread; `idle.afterMs` also of a thread in reserve. */
  readonly thread: Pick<
    SlotSettings,
    'spillDir' | 'idle' | 'outputBufferBytes' | 'rowCacheBytes' | 'copies' | 'objects'
  >;
  /** Called with what a slot reads without a copy. */
  readonly onReads: (message: ReadsMessage) => void;
  readonly quanta: QuantumLimits;
  readonly log: Logger;
};

type QuantumLimits = {
  /** Most long quanta that one principal may have at once. */
  readonly longMax: number;
  /** Age at which a quantum is interrupted, and its statement cancelled. */
  readonly ageMaxMs: number;
  /** Time within which a quantum must end after its interrupt. */
  readonly overrunMs: number;
  /** Most threads that may be started in place of slow ones. */
  readonly sparesMax: number;
  /** Called with the number of threads beyond the number of slots, when it changes. */
  readonly onSpares: (spares: number) => void;
  /** Called, perhaps repeatedly, when a quantum has used `OVERRUN_PART` of `overrunMs`. */
  readonly onOverrun: () => void;
  /**
   * Called again and again with the quantum that has gone on longest after `overrunMs`, which only the end of the process stops; null when
   * there is none.
   */
  readonly onHung: (hung: HungQuantum | null) => void;
};
