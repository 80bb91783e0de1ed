import { expressionKey } from '../../plan/expression-tree.ts';
import type { Expression } from '../../plan/expression.ts';
import type { Plan } from '../../plan/plan.ts';
import { isTogether, movedTasks, ONE, placeOf, throughPositions, usefulKeys, type Placed } from './placed.ts';
import { exchange, gathered, together, type Placing } from './placing.ts';

type Node<Kind extends Plan['kind']> = Extract<Plan, { kind: Kind }>;

/** Places a sort over all rows, in one task. */
export function placeSort(placing: Placing, node: Node<'sort'>, input: Placed): Placed {
  const all = gathered(placing, input, 'rows are sorted in one place');
  return {
    source: node,
    plan: { ...node, child: all.plan },
    tasks: movedTasks(all.tasks, throughPositions(node.projection)),
  };
}

/** Rows that a first top-N step may give, at most; beyond that such a step does not pay off. */
const PARTIAL_ROWS_MAX = 1_000_000;

/**
 * ```
 * limit n offset m        limit n offset m
 *   sort x          ->      sort x
 *     child                   exchange gather
 *                               limit n + m
 *                                 sort x
 *                                   child
 * ```
 * Works the same without a sort. A limit that is a percentage, computed or absent gets no first step: all rows are gathered.
 */
export function placeLimit(placing: Placing, node: Node<'limit'>, place: (plan: Plan) => Placed): Placed {
  const { child: sort } = node;
  const isTop = sort.kind === 'sort';
  const input = place(isTop ? sort.child : sort);
  const on = (below: Plan): Plan => ({ ...node, child: isTop ? { ...sort, child: below } : below });
  const rows = partialRows(node);
  if (input.tasks.kind === 'one' || rows === null) {
    const all = gathered(placing, input, 'a limit counts all rows');
    return { source: node, plan: on(all.plan), tasks: ONE };
  }
  const limit: Plan = {
    kind: 'limit',
    child: isTop ? { ...sort, projection: null, child: input.plan } : input.plan,
    limit: { kind: 'rows', rows },
    offset: { kind: 'none' },
  };
  const local: Placed = { source: input.source, plan: limit, tasks: input.tasks };
  const reason = isTop
    ? 'the first rows of each task hold the first of all'
    : 'each task gives as many rows as are wanted';
  const exchanged = exchange(placing, local, { kind: 'gather' }, { reason, rest: { source: node, rest: on } });
  return { source: node, plan: on(exchanged.plan), tasks: ONE };
}

function partialRows({ limit, offset }: Node<'limit'>): number | null {
  if (limit.kind !== 'rows' || (offset.kind !== 'rows' && offset.kind !== 'none')) return null;
  const rows = limit.rows + (offset.kind === 'rows' ? offset.rows : 0);
  return rows <= PARTIAL_ROWS_MAX ? rows : null;
}

/**
 * Places a window where the rows of its partitions are together. `first` is a filter that may be applied to any part of the rows before
 * (`firstRanks`).
 */
export function placeWindow(
  placing: Placing,
  node: Node<'window'>,
  input: Placed,
  first: ((part: Plan) => Plan) | null = null,
): Placed {
  const inPlace = (child: Placed): Placed => ({
    source: node,
    plan: { ...node, child: child.plan },
    tasks: placeOf(node, child.tasks),
  });
  if (input.tasks.kind === 'one') return inPlace(input);
  const keys = commonPartitions(node);
  if (keys.length > 0 && isTogether(input.tasks, keys)) return inPlace(input);
  const what = keys.length === 0 ? 'a window over all rows' : 'a window';
  if (first === null) return inPlace(together(placing, input, keys, { what }));
  const local: Placed = { ...input, plan: first(input.plan) };
  const { source } = input;
  return inPlace(together(placing, local, keys, { what, rest: { source, rest: (parts) => parts } }));
}

/** Returns the expressions that all window calls partition by. */
function commonPartitions({ calls }: Node<'window'>): readonly Expression[] {
  const [first, ...others] = calls.map(({ partitions }) => partitions);
  const keys = others.map((partitions) => new Set(partitions.map(expressionKey)));
  return usefulKeys((first ?? []).filter((one) => keys.every((set) => set.has(expressionKey(one)))));
}
