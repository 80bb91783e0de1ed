import { unreachable } from '#shared/must.ts';
import type { JoinPlan, Plan } from '../../planner/plan.ts';

type Side = 'left' | 'right';

/** What a join allows, whatever it costs. */
export type JoinRules = {
  /** The right side may be whole at every task, which has some of the left. */
  readonly broadcastRight: boolean;
  readonly broadcastLeft: boolean;
  /** Which conditions may decide where rows meet. */
  readonly partitionBy: 'equal' | 'notDistinct' | 'nothing';
  /** Sides all of whose rows are in the result, matched or not: a NULL key of theirs needs no partner. */
  readonly preserved: readonly Side[];
  /** Sides by whose keys a partitioned result is still partitioned. */
  readonly keysOf: readonly Side[];
};

/** By type; a side whose rows show whether they were matched is never broadcast: each task would show it. */
export function joinRules(node: JoinPlan | Extract<Plan, { kind: 'cross' }>): JoinRules {
  if (node.kind === 'cross') return { ...INNER, partitionBy: 'nothing' };
  switch (node.type) {
    case 'inner':
      // The nearest row of an as-of join is known to whoever sees all of the right side.
      return node.asof ? { ...INNER, broadcastLeft: false } : INNER;
    case 'left':
    case 'single':
    case 'anti':
      return { ...LEFT, preserved: ['left'] };
    case 'semi':
      return LEFT;
    case 'mark':
      // Whether x IN (...) is false or NULL is known to whoever sees all of the right side.
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
