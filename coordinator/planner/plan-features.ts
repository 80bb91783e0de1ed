/** What workload classification reads of a plan (service specification, Limits). */
export type PlanFeatures = {
  /** Joins of every kind. */
  readonly joins: number;
  readonly windows: number;
  readonly aggregates: number;
  readonly scans: number;
  /** Sum of the estimated rows over the scans, after their filters. */
  readonly estimatedRows: number;
};
