import { checkColumns } from '../../binding/check-plan.ts';
import type { Plan } from '../../plan/plan.ts';

/** One rewrite of a plan; `reason`: why it is in its place in the list. */
export type Pass = {
  readonly name: string;
  readonly run: (plan: Plan) => Plan;
  readonly reason: string;
};

export type PassOptions = {
  readonly signal?: AbortSignal;
  /** Names of passes that do not run. */
  readonly disabled?: ReadonlySet<string>;
  /** Called after every pass, with its duration in ms. */
  readonly onPass?: (name: string, plan: Plan, tookMs: number) => void;
};

/** Runs passes in order; the plan is checked after each. @throws the signal's reason; Error when a pass broke the plan. */
export function runPasses(passes: readonly Pass[], plan: Plan, { signal, disabled, onPass }: PassOptions): Plan {
  return passes.reduce((current, { name, run }) => {
    signal?.throwIfAborted();
    if (disabled?.has(name) === true) return current;
    const start = performance.now();
    const next = run(current);
    if (next !== current) checkColumns(next, current, name);
    onPass?.(name, next, performance.now() - start);
    return next;
  }, plan);
}
