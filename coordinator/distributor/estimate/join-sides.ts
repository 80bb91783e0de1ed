import { children, walkPlan } from '../../plan/plan-tree.ts';
import type { Plan } from '../../plan/plan.ts';
import type { Estimator } from './estimate.ts';
import type { JoinSide, JoinSides } from '../fragment.ts';
import { bytesOf } from '../../plan/row-estimate.ts';

/** Returns, for every join whose two sides both read stages, each side's estimated bytes and the stages that it waits for. */
export function joinSides(plan: Plan, estimate: Estimator): readonly JoinSides[] {
  const sideOf = (side: Plan): JoinSide => ({ bytes: bytesOf(estimate(side)), stages: stagesOf(side) });
  return [...walkPlan(plan)].flatMap((node) => {
    if (node.kind !== 'join') return [];
    const [left, right] = [sideOf(node.left), sideOf(node.right)];
    return left.stages.length > 0 && right.stages.length > 0 ? [{ left, right }] : [];
  });
}

function stagesOf(plan: Plan): readonly number[] {
  if (plan.kind === 'exchange' || plan.kind === 'stage') return [plan.stage];
  return children(plan).flatMap(stagesOf);
}
