import type { DistributedPlan, Fragment } from '../distributor/fragment.ts';
import type { Plan } from '../planner/plan.ts';
import { walkPlan } from '../planner/plan-tree.ts';

/** A probe side that is expected to give less runs along with its build side: knowing more would not make up for the wait. */
const DEFER_BYTES_MIN = 16 * 2 ** 20;

/**
 * The stages to run next: those whose inputs have run, without the big side of a join whose small side has not, so that it is planned
 * again with what is known then. Never empty while a fragment but the last is left to run.
 * ```
 *        join (last fragment)
 *        /            \
 *   stage 3 (1 GB)   stage 2 (1 MB)      -->  stage 2 first
 * ```
 */
export function chooseWave({ fragments }: DistributedPlan, isDone: (stage: number) => boolean): readonly Fragment[] {
  const open = fragments.filter(({ stage, output }) => output !== null && !isDone(stage));
  const ready = open.filter(({ inputs }) => inputs.every(({ stage }) => isDone(stage)));
  const sizes = new Map(open.map(({ stage, estimate }) => [stage, estimate.bytes]));
  const deferred = new Set(fragments.flatMap(({ plan }) => deferredStages(plan, sizes)));
  const wave = ready.filter(({ stage }) => !deferred.has(stage));
  if (wave.length > 0) return wave;
  const [smallest] = ready.toSorted((a, b) => a.estimate.bytes - b.estimate.bytes);
  return smallest === undefined ? [] : [smallest];
}

/** Of each join of a fragment, the stages of its bigger side, when stages of its other side have not run either. */
function deferredStages(plan: Plan, sizes: ReadonlyMap<number, number>): number[] {
  return [...walkPlan(plan)].flatMap((node) => {
    if (node.kind !== 'join') return [];
    const [left, right] = [openStages(node.left, sizes), openStages(node.right, sizes)];
    if (left.length === 0 || right.length === 0) return [];
    const [small, big] = [left, right].toSorted((a, b) => bytesOf(a, sizes) - bytesOf(b, sizes));
    if (small === undefined || big === undefined || bytesOf(big, sizes) < DEFER_BYTES_MIN) return [];
    return big.filter((stage) => !small.includes(stage));
  });
}

const openStages = (plan: Plan, sizes: ReadonlyMap<number, number>): readonly number[] =>
  [...walkPlan(plan)].flatMap((node) => (node.kind === 'stage' && sizes.has(node.stage) ? [node.stage] : []));

const bytesOf = (stages: readonly number[], sizes: ReadonlyMap<number, number>): number =>
  stages.reduce((sum, stage) => sum + (sizes.get(stage) ?? 0), 0);
