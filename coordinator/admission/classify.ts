import type { PlanFeatures } from '../planner/plan-features.ts';

export type WorkClass = 'interactive' | 'medium' | 'batch';

/** Higher means more important; history keeps it. */
export const PRIORITIES: Readonly<Record<WorkClass, number>> = { interactive: 7, medium: 5, batch: 3 };

/** The numbers of joins, scans and estimated rows from which a query is of the named class (service specification, Limits). */
const BATCH_JOINS = 3;
const MEDIUM_SCANS = 3;
const MEDIUM_ROWS = 100_000;
/** A query with more estimated rows than this is `batch`. */
const MEDIUM_ROWS_MAX = 10_000_000;

/** Returns the class of a query by its plan, or `setting`, the session's `service.workload_class`, unless that is `auto`. */
export function classify(features: Omit<PlanFeatures, 'selective'>, setting: string): WorkClass {
  if (setting === 'interactive' || setting === 'medium' || setting === 'batch') return setting;
  const { joins, windows, aggregates, scans, estimatedRows } = features;
  if (joins >= BATCH_JOINS || (windows > 0 && aggregates > 0) || estimatedRows > MEDIUM_ROWS_MAX) return 'batch';
  return joins > 0 || windows > 0 || scans >= MEDIUM_SCANS || estimatedRows >= MEDIUM_ROWS ? 'medium' : 'interactive';
}
