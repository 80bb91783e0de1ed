import type { DistributedPlan, Fragment, JoinSides } from '../distributor/fragment.ts';

/**
 * Stages of a probe side with less estimated output than this run along with the build side: better planning would not make up for the
 * wait.
 */
const DEFER_BYTES_MIN = 16 * 2 ** 20;

/**
 * Chooses the stages to run next: those whose inputs have run, except the big side of a join whose small side has not run. The big side is
 * planned again later, and its scans are narrowed, by the small side's actual rows. The size of a side is its estimated output, not its
 * inputs. Never empty while a fragment but the last is left to run.
 * ```
 *              join (last fragment)
 *             /      \
 *   stage 3 (1 GB)   semi join (1 MB)          -->  stages 2 and 4 first
 *                      /        \
 *            stage 2 (2 GB)   stage 4 (1 MB)        and of those stage 4
 * ```
 */
export function chooseWave(
  { fragments, joins }: DistributedPlan,
  isDone: (stage: number) => boolean,
): readonly Fragment[] {
  const open = fragments.filter(({ stage, output }) => output !== null && !isDone(stage));
  const ready = open.filter(({ inputs }) => inputs.every(({ stage }) => isDone(stage)));
  const sizes = new Map(open.map(({ stage, estimate }) => [stage, estimate.bytes]));
  const deferred = new Set(joins.flatMap((join) => deferredStages(join, sizes)));
  const wave = ready.filter(({ stage }) => !deferred.has(stage));
  if (wave.length > 0) return wave;
  const [smallest] = ready.toSorted((a, b) => a.estimate.bytes - b.estimate.bytes);
  return smallest === undefined ? [] : [smallest];
}

/** The last stage reads at most this much, as estimated, when its task is sent before the stages that it reads have ended. */
const EARLY_BYTES_MAX = 4 * 2 ** 20;

/**
 * Whether nothing that the stages now running give would change how the last one runs: it is one task that reads little, and no table. Then
 * its task need not wait for their ends to be sent. `isBegun`: the stage runs or has run.
 */
export function isLastKnown({ fragments }: DistributedPlan, isBegun: (stage: number) => boolean): boolean {
  const last = fragments.at(-1);
  if (last === undefined || last.tasks.kind !== 'single' || last.scans.length > 0 || last.inputs.length === 0)
    return false;
  const others = fragments.slice(0, -1);
  const read = others.filter(({ stage }) => last.inputs.some((input) => input.stage === stage));
  const bytes = read.reduce((sum, { estimate }) => sum + estimate.bytes, 0);
  return bytes <= EARLY_BYTES_MAX && others.every(({ stage }) => isBegun(stage));
}

/** Returns the stages of the bigger side of a join while stages of its other side have not run. */
function deferredStages({ left, right }: JoinSides, sizes: ReadonlyMap<number, number>): readonly number[] {
  const [small, big] = [left, right]
    .toSorted((a, b) => a.bytes - b.bytes)
    .map(({ stages }) => stages.filter((stage) => sizes.has(stage)));
  if (small === undefined || big === undefined || small.length === 0) return [];
  const bytes = big.reduce((sum, stage) => sum + (sizes.get(stage) ?? 0), 0);
  return bytes < DEFER_BYTES_MIN ? [] : big.filter((stage) => !small.includes(stage));
}
