import type { TaskReport } from '#proto/task.ts';
import type { Fragment } from '../distributor/fragment.ts';
import type { PlannedScan } from './plan-scans.ts';

/** How a stage went, for EXPLAIN ANALYZE and history. */
export type StageReport = {
  readonly fragment: Fragment;
  /** What each of the fragment's scans was planned to read. */
  readonly scans: readonly PlannedScan[];
  /** What was learned of its scans' rows from stages that had run. */
  readonly dynamicFilters: readonly string[];
  readonly tasks: readonly TaskReport[];
  /** Tasks that ran again, because a worker or what it held was lost. */
  readonly retries: number;
  /** Partitions that were so big that they were divided. */
  readonly skewed: number;
  readonly elapsedMs: number;
};
