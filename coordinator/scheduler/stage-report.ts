import type { TaskReport } from '#proto/task.ts';
import type { Fragment } from '../distributor/fragment.ts';

/** How a stage went, for EXPLAIN ANALYZE and history. */
export type StageReport = {
  readonly fragment: Fragment;
  readonly tasks: readonly TaskReport[];
  /** Tasks that ran again, because a worker or what it held was lost. */
  readonly retries: number;
  /** Partitions that were so big that they were divided. */
  readonly skewed: number;
  readonly elapsedMs: number;
};
