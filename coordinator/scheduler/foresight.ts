import type { DistributedPlan, Fragment } from '../distributor/fragment.ts';
import { chooseWave } from './choose-wave.ts';
import type { StageRun } from './stage-run.ts';

/** Stages that run have `foreseen` what they gave when they ran before: how the query goes on if they give it again. */
export type Foresight = {
  /** The plan in that case. */
  readonly next: DistributedPlan;
  /** Stages of `next` whose tasks wait on their workers for those that run. */
  readonly ahead: readonly StageRun<Fragment>[];
  /** Ids of the workers that it was made for. */
  readonly workers: string;
};

/** Stages are sent ahead when those that run give at most this much: the workers hold it until all of it is there. */
const AHEAD_BYTES_MAX = 64 * 2 ** 20;

/**
 * Prepares the next stages of `next` whose tasks can wait for stages that run: for all of them, or they would take cores and memory that the
 * others have. Not those that share out outputs by where they are, or divide a partition by its batches: neither is known yet. Nor those that
 * read what may come out otherwise when it is made again: one task might have read it before, and another after.
 */
export function stagesAhead(
  { next, running }: { readonly next: DistributedPlan; readonly running: readonly StageRun<Fragment>[] },
  isBegun: (stage: number) => boolean,
  prepare: (fragment: Fragment) => StageRun<Fragment>,
): readonly StageRun<Fragment>[] {
  const stages = new Set(running.map(({ fragment }) => fragment.stage));
  const bytes = running.reduce((sum, { foreseen }) => sum + (foreseen?.bytes ?? 0), 0);
  if (bytes > AHEAD_BYTES_MAX || running.some(({ fragment }) => !fragment.repeatable)) return [];
  const canWait = ({ inputs }: Fragment): boolean => {
    const awaited = inputs.filter(({ stage }) => stages.has(stage));
    return awaited.length === running.length && awaited.every(({ read }) => read !== 'share');
  };
  const ahead = chooseWave(next, isBegun)
    .filter(canWait)
    .map(prepare)
    .filter(({ readsSlices }) => !readsSlices);
  for (const run of ahead) {
    run.isEarly = true;
    run.isForeseen = true;
  }
  return ahead;
}
