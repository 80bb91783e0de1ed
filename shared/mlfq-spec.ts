/** How the slots share their time between queries by the time that those have had (service specification, Workload). */
export type MlfqSpec = {
  /** Scheduled time of a query at which it leaves each level but the last, in ms. */
  readonly levelsMs: readonly number[];
  /** Each level gets this many times the slot time of the next. */
  readonly levelWeightRatio: number;
};

export const LEVELS = 5;

export const DEFAULT_MLFQ: MlfqSpec = { levelsMs: [1_000, 10_000, 60_000, 300_000], levelWeightRatio: 2 };

/** Whether the levels end one after another, and none gets less time than the next. */
export const isMlfqSpec = ({ levelsMs, levelWeightRatio }: MlfqSpec): boolean =>
  levelsMs.length === LEVELS - 1 &&
  levelsMs.every((ms, i) => ms > (levelsMs[i - 1] ?? 0) && Number.isFinite(ms)) &&
  levelWeightRatio >= 1 &&
  Number.isFinite(levelWeightRatio);
