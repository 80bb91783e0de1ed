import type { Plan } from '../plan/plan.ts';

/** The facts that runs of a plan have taught. They are kept exactly as long as the plan (`StatementMemory`). */
export type PlanMemory = {
  /** The plan as the distributor shapes it; null until a run needs it. */
  shaped: Plan | null;
  /** For the digest of each fragment that a planner was asked to bind: the reason of its refusal, or null. */
  readonly checks: Map<string, string | null>;
  /** Rows of the last result: a better guess for the next one than the plan's; null before the first. */
  lastRows: number | null;
};

export const newPlanMemory = (): PlanMemory => ({ shaped: null, checks: new Map(), lastRows: null });
