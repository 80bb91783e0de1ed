import type { Fragment } from '../distributor/fragment.ts';
import type { FinishedTask } from './finished-task.ts';
import type { PlannedScan } from './plan-scans.ts';

/** Statistics of one stage of a query, for EXPLAIN ANALYZE and history. */
export type StageReport = {
  readonly fragment: Fragment;
  /** The planned files of each of the fragment's scans. */
  readonly scans: readonly PlannedScan[];
  /** Descriptions of the dynamic filters on its scans, from the keys of stages that had run. */
  readonly dynamicFilters: readonly string[];
  readonly tasks: readonly FinishedTask[];
  /** Tasks that ran again, because a worker or what it held was lost. */
  readonly retries: number;
  /** Number of partitions that were divided because they were much bigger than the others. */
  readonly skewed: number;
  readonly elapsedMs: number;
};
