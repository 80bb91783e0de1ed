import type { TaskWidth } from '../distributor/fragment.ts';
import type { PlanFeatures } from '../plan/plan-features.ts';
import type { PlannedScan } from './plan-scans.ts';

/** One core finishes scans of at most this many compressed bytes and rows before a second core would help. */
const NARROW_BYTES_MAX = 8 * 2 ** 20;
const NARROW_ROWS_MAX = 500_000;
/** Memory limit of a narrow task: many of them must fit beside a big one. A task spills to disk beyond it. */
export const NARROW_MEMORY_BYTES = 256 * 2 ** 20;

/**
 * The number of cores for a query that runs whole. A small query gets one: it starts sooner, in a slot that is ready, and many of them run
 * side by side. `setting` is the session's `skein.task_width`.
 */
export function chooseWidth(scans: readonly PlannedScan[], features: PlanFeatures, setting: string): TaskWidth {
  if (setting === 'auto') return isBig(scans, features) ? 'worker' : 1;
  return setting === 'wide' ? 'worker' : 1;
}

/** Whether one core would take long for a query. */
export function isBig(scans: readonly PlannedScan[], features: PlanFeatures): boolean {
  const bytes = scans.reduce((sum, scan) => sum + scan.report.bytes, 0);
  const rows = scans.reduce((sum, scan) => sum + scan.report.rows, 0);
  return (
    bytes > NARROW_BYTES_MAX ||
    rows > NARROW_ROWS_MAX ||
    features.estimatedRows + features.generatedRows > NARROW_ROWS_MAX
  );
}
