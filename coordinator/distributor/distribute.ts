import { walkExpression, expressionsOf } from '../plan/expression-tree.ts';
import { checkColumns } from '../binding/check-plan.ts';
import { walkPlan } from '../plan/plan-tree.ts';
import type { Plan } from '../plan/plan.ts';
import { oneHasEveryCore } from './estimate/cluster-cores.ts';
import { cutFragments } from './cut-fragments.ts';
import { endEmpty } from './shape/end-empty.ts';
import { estimator } from './estimate/estimate.ts';
import { bytesOf } from '../plan/row-estimate.ts';
import type { DistributedPlan, DistributionFacts, ScanFacts, WholePlan } from './fragment.ts';
import { joinSides } from './estimate/join-sides.ts';
import { DISTRIBUTION_LIMITS, type DistributionLimits } from './limits.ts';
import { NotPrintable } from './print/not-printable.ts';
import { placePlan } from './place/place-plan.ts';
import { gathered, NotDistributable, type Placing } from './place/placing.ts';

/**
 * Distributes a shaped plan (`shapePlan`), or the rest of one (`advance`), into fragments, or says why one worker runs the query whole. The
 * result is made from what is known now: run the fragments that read nothing unfinished, `advance`, and distribute the rest again.
 */
export function distribute(
  plan: Plan,
  facts: DistributionFacts,
  limits: DistributionLimits = DISTRIBUTION_LIMITS,
): DistributedPlan | WholePlan {
  const reason = wholeReason(plan, facts, limits);
  if (reason !== null) return { kind: 'whole', reason };
  try {
    return place(endEmpty(plan, isEmpty(facts)), facts, limits);
  } catch (error) {
    if (error instanceof NotDistributable || error instanceof NotPrintable) {
      return { kind: 'whole', reason: error.reason };
    }
    throw error;
  }
}

const isEmpty =
  ({ scans, stages }: DistributionFacts) =>
  (leaf: Plan): boolean =>
    (leaf.kind === 'stage' && stages.get(leaf.stage)?.rows === 0) ||
    (leaf.kind === 'scan' && isEmptyScan(scans[leaf.scan]));

const isEmptyScan = (scan: ScanFacts | undefined): boolean =>
  scan !== undefined && (scan.isInline === true ? scan.rows : scan.files) === 0;

function place(plan: Plan, facts: DistributionFacts, limits: DistributionLimits): DistributedPlan | WholePlan {
  let next = facts.nextStage;
  const planned: Placing['planned'] = new Map();
  const placing: Placing = {
    facts,
    limits,
    estimate: estimator(facts, (stage) => planned.get(stage)?.estimate),
    planned,
    ctes: new Map(),
    replacements: [],
    firstSteps: new WeakSet(),
    nextStage: () => (next += 1) - 1,
  };
  const free = placePlan(placing, plan);
  const placed = facts.settings.inOneTask === true ? gathered(placing, free, 'one task takes all rows') : free;
  checkColumns(placed.plan, plan, 'the exchanges');
  const fragments = cutFragments(placed.plan, placing.nextStage(), placing);
  const isOneTask = fragments.length === 1 && fragments[0]?.tasks.kind === 'single';
  if (isOneTask && !hasRun(facts)) {
    return { kind: 'whole', reason: 'everything is in one task' };
  }
  return {
    kind: 'distributed',
    source: plan,
    plan: placed.plan,
    fragments,
    joins: joinSides(placed.plan, placing.estimate),
    replacements: placing.replacements,
    nextStage: next,
  };
}

/** Returns the reason not to distribute a query, judged before any placement; null when it may be distributed. */
function wholeReason(plan: Plan, facts: DistributionFacts, limits: DistributionLimits): string | null {
  const { distribution } = facts.settings;
  if (distribution === 'single') return 'skein.distribution is single';
  const volatile = volatileFunction(plan);
  if (volatile !== null) return `${volatile}() is computed once, in one place`;
  if (distribution === 'force' || hasRun(facts)) return null;
  if (oneHasEveryCore(facts.cluster)) return 'one worker has every core that there is';
  const estimate = estimator(facts);
  let bytes = 0;
  for (const node of walkPlan(plan))
    if (node.kind === 'scan' || node.kind === 'stage') bytes += bytesOf(estimate(node));
  return bytes <= limits.wholeBytesMax ? 'there is little to read' : null;
}

/** Whether a stage of the query has run. */
const hasRun = ({ stages, isFirst = false }: DistributionFacts): boolean => stages.size > 0 && !isFirst;

const VOLATILE: ReadonlySet<string> = new Set(['random', 'uuid', 'gen_random_uuid', 'uuidv4', 'uuidv7', 'nextval']);

function volatileFunction(plan: Plan): string | null {
  for (const node of walkPlan(plan)) {
    for (const expression of expressionsOf(node)) {
      for (const one of walkExpression(expression)) {
        if (one.kind === 'function' && VOLATILE.has(one.name)) return one.name;
      }
    }
  }
  return null;
}
