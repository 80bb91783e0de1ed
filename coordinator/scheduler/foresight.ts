import type { DistributedPlan, Fragment } from '../distributor/fragment.ts';
import { chooseWave } from './choose-wave.ts';
import { givesSame } from './past-stages.ts';
import type { StageRun } from './stage-run.ts';

/** Stages that run have `foreseen` what they gave when they ran before: how the query goes on if they give it again. */
export type Foresight = {
  readonly running: readonly StageRun<Fragment>[];
  /** The plan by it. */
  readonly next: DistributedPlan;
  /** Stages of `next` whose tasks wait on their workers for those that run. */
  readonly ahead: readonly StageRun<Fragment>[];
  /** Ids of the workers that it was made for. */
  readonly workers: string;
};

/** Makes the stages that are likely to follow those that run. `over` aborts when these have ended. */
export type Foresee = (over: AbortSignal) => Promise<readonly StageRun[]>;

/** A stage is sent ahead when it reads at most this much of those that run: its workers hold it until all of it is there. */
const AHEAD_BYTES_MAX = 64 * 2 ** 20;

/**
 * Prepares the next stages of `next` whose tasks can wait for stages that run. Not those that share out outputs by where they are, or divide
 * a partition by its batches: neither is known yet.
 */
export function stagesAhead(
  { next, running }: Pick<Foresight, 'next' | 'running'>,
  isBegun: (stage: number) => boolean,
  prepare: (fragment: Fragment) => StageRun<Fragment>,
): readonly StageRun<Fragment>[] {
  const bytes = new Map(running.map(({ fragment, foreseen }) => [fragment.stage, foreseen?.bytes ?? 0]));
  const canWait = ({ inputs }: Fragment): boolean => {
    const awaited = inputs.filter(({ stage }) => bytes.has(stage));
    const total = awaited.reduce((sum, { stage }) => sum + (bytes.get(stage) ?? 0), 0);
    return awaited.length > 0 && awaited.every(({ read }) => read !== 'share') && total <= AHEAD_BYTES_MAX;
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

/** Whether it has come so: the stages have ended, and the workers are the same. */
export const hasComeTrue = ({ running, workers }: Foresight, workersNow: string): boolean =>
  workers === workersNow && running.every((run) => run.foreseen !== undefined && givesSame(run.foreseen, run.facts()));
