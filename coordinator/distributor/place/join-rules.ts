import { unreachable } from '#shared/must.ts';
import type { JoinPlan, Plan } from '../../plan/plan.ts';

type Side = 'left' | 'right';

/** The distributions that a join's type allows, regardless of cost. */
export type JoinRules = {
  /** Every task may read the whole right side and a part of the left. */
  readonly broadcastRight: boolean;
  readonly broadcastLeft: boolean;
  /** The kind of equality by which both sides may be partitioned: `=` and IS NOT DISTINCT FROM, only the latter, or none. */
  readonly partitionBy: 'equal' | 'notDistinct' | 'nothing';
  /** Sides whose rows are all in the result, matched or not: a row with a NULL key needs no partner. */
  readonly preserved: readonly Side[];
  /** Sides by whose keys the result of a partitioned join is still partitioned. */
  readonly keysOf: readonly Side[];
};

/**
 * Returns the rules of a join's type. A side whose unmatched rows the join emits or drops is never broadcast: each task would judge them by
 * its own part.
 */
export function joinRules(node: JoinPlan | Extract<Plan, { kind: 'cross' }>): JoinRules {
  if (node.kind === 'cross') return { ...INNER, partitionBy: 'nothing' };
  switch (node.type) {
    case 'inner':
      // Only a task that reads the whole right side can tell the nearest row of an as-of join.
      return node.asof ? { ...INNER, broadcastLeft: false } : INNER;
    case 'left':
    case 'single':
    case 'anti':
      return { ...LEFT, preserved: ['left'] };
    case 'semi':
      return LEFT;
    case 'mark':
      // Only a task that reads the whole right side can tell whether x IN (...) is false or NULL.
      return { ...LEFT, partitionBy: 'notDistinct' };
    case 'right':
    case 'rightAnti':
      return { ...RIGHT, broadcastLeft: !node.asof, preserved: ['right'] };
    case 'rightSemi':
      return RIGHT;
    case 'full':
      return {
        broadcastRight: false,
        broadcastLeft: false,
        partitionBy: 'equal',
        preserved: ['left', 'right'],
        keysOf: [],
      };
    default:
      return unreachable(node.type, 'join type');
  }
}

const INNER: JoinRules = {
  broadcastRight: true,
  broadcastLeft: true,
  partitionBy: 'equal',
  preserved: [],
  keysOf: ['left', 'right'],
};
const LEFT: JoinRules = { ...INNER, broadcastLeft: false, keysOf: ['left'] };
const RIGHT: JoinRules = { ...INNER, broadcastRight: false, keysOf: ['right'] };
