import { must, unreachable } from '#shared/must.ts';
import { columnsRead, expressionsOf, mapAggregate, mapWindow, moveColumns } from '../../plan/expression-tree.ts';
import type { Expression, Order } from '../../plan/expression.ts';
import { outputFields } from '../../plan/plan-schema.ts';
import { mapChildren } from '../../plan/plan-tree.ts';
import type { JoinPlan, Plan } from '../../plan/plan.ts';

/**
 * Removes columns that nothing reads, so that no exchange carries them.
 * ```
 * project a                        project a
 *   join a = b                       join a = b, keeps a
 *     filter c > 3            ->       filter c > 3, keeps a
 *       scan a, c, d                     scan a, c
 *     scan b, e                        scan b
 * ```
 * A common table expression keeps the columns that any of its readers needs. Does not fire below DISTINCT, INTERSECT and EXCEPT, which
 * compare whole rows.
 */
export function pruneColumns(plan: Plan): Plan {
  const all = everyPosition(plan);
  return exactly(prune(plan, new Set(all), { needed: new Map(), kept: new Map() }), all);
}

/** A node with some of its columns; `kept` are their old positions. */
type Pruned = { readonly plan: Plan; readonly kept: readonly number[] };

/** The columns of common table expressions, by index: those that are read, and later those that remain. */
type Ctes = { readonly needed: Map<number, Set<number>>; readonly kept: Map<number, readonly number[]> };

type Needed = ReadonlySet<number>;

const everyPosition = (plan: Plan): readonly number[] => outputFields(plan).map((_, i) => i);

const sorted = (positions: Iterable<number>): readonly number[] => [...positions].toSorted((a, b) => a - b);

/** Returns the node with exactly the old columns `wanted`, in this order. */
function exactly({ plan, kept }: Pruned, wanted: readonly number[]): Plan {
  if (kept.length === wanted.length && kept.every((position, i) => position === wanted[i])) return plan;
  const fields = outputFields(plan);
  return {
    kind: 'project',
    child: plan,
    expressions: wanted.map((position) => {
      const index = kept.indexOf(position);
      const { name, type } = must(fields[index], 'a column that is kept');
      return { name, expression: { kind: 'column', index, name, type } };
    }),
  };
}

/** An expression over the columns that are left. */
const moved = (expression: Expression, kept: readonly number[]): Expression =>
  must(
    moveColumns(expression, (index) => (kept.includes(index) ? kept.indexOf(index) : null)),
    'a column that is read is kept',
  );

const movedOrders = (orders: readonly Order[], kept: readonly number[]): readonly Order[] =>
  orders.map((order) => ({ ...order, expression: moved(order.expression, kept) }));

const readBy = (expressions: readonly Expression[]): readonly number[] =>
  expressions.flatMap((expression) => [...columnsRead(expression)]);

/** A node must keep one column, to have rows. */
const atLeastOne = (needed: Needed, otherwise = 0): Needed => (needed.size > 0 ? needed : new Set([otherwise]));

function prune(plan: Plan, wanted: Needed, ctes: Ctes): Pruned {
  const whole = (): Pruned => ({ plan: pruneWhole(plan, ctes), kept: everyPosition(plan) });
  switch (plan.kind) {
    case 'scan':
      return pruneScan(plan, wanted);
    case 'filter':
    case 'sort':
      return prunePicking(plan, wanted, ctes);
    case 'project':
      return pruneProject(plan, wanted, ctes);
    case 'aggregate':
      return pruneAggregate(plan, wanted, ctes);
    case 'window':
      return pruneWindow(plan, wanted, ctes);
    case 'unnest':
      return pruneUnnest(plan, wanted, ctes);
    case 'distinct':
      return plan.isOn ? pruneDistinct(plan, wanted, ctes) : whole();
    case 'limit': {
      if (expressionsOf(plan).length > 0) return whole();
      const child = prune(plan.child, wanted, ctes);
      return { plan: { ...plan, child: child.plan }, kept: child.kept };
    }
    case 'join':
      return plan.delim === null ? pruneJoin(plan, wanted, ctes) : whole();
    case 'cross':
      return pruneCross(plan, wanted, ctes);
    case 'union': {
      if (!plan.all) return whole();
      const kept = sorted(atLeastOne(wanted));
      const children = plan.children.map((child) => exactly(prune(child, new Set(kept), ctes), kept));
      return { plan: { ...plan, children }, kept };
    }
    case 'cte':
      return pruneCte(plan, wanted, ctes);
    case 'cteScan':
      return pruneCteScan(plan, wanted, ctes);
    case 'generator':
    case 'values':
    case 'oneRow':
    case 'empty':
    case 'sample':
    case 'positional':
    case 'delimScan':
    case 'intersect':
    case 'except':
    case 'recursiveCte':
    case 'exchange':
    case 'stage':
      return whole();
    default:
      return unreachable(plan);
  }
}

function pruneProject(plan: Extract<Plan, { kind: 'project' }>, wanted: Needed, ctes: Ctes): Pruned {
  const kept = sorted(atLeastOne(wanted));
  const expressions = kept.map((at) => must(plan.expressions[at], 'a column'));
  const child = prune(plan.child, new Set(readBy(expressions.map(({ expression }) => expression))), ctes);
  const over = expressions.map((one) => ({ ...one, expression: moved(one.expression, child.kept) }));
  return { plan: { ...plan, child: child.plan, expressions: over }, kept };
}

function pruneUnnest(plan: Extract<Plan, { kind: 'unnest' }>, wanted: Needed, ctes: Ctes): Pruned {
  const width = outputFields(plan.child).length;
  const below = new Set([...[...wanted].filter((at) => at < width), ...readBy(plan.expressions)]);
  const child = prune(plan.child, below, ctes);
  const expressions = plan.expressions.map((one) => moved(one, child.kept));
  const added = plan.expressions.map((_, i) => width + i);
  return { plan: { ...plan, child: child.plan, expressions }, kept: [...child.kept, ...added] };
}

function pruneDistinct(plan: Extract<Plan, { kind: 'distinct' }>, wanted: Needed, ctes: Ctes): Pruned {
  const child = prune(plan.child, new Set([...wanted, ...readBy(expressionsOf(plan))]), ctes);
  const on = plan.on.map((one) => moved(one, child.kept));
  return {
    plan: { ...plan, child: child.plan, on, orders: movedOrders(plan.orders, child.kept) },
    kept: child.kept,
  };
}

function pruneCross(plan: Extract<Plan, { kind: 'cross' }>, wanted: Needed, ctes: Ctes): Pruned {
  const width = outputFields(plan.left).length;
  const left = prune(plan.left, new Set([...wanted].filter((at) => at < width)), ctes);
  const right = prune(plan.right, new Set([...wanted].filter((at) => at >= width).map((at) => at - width)), ctes);
  return {
    plan: { ...plan, left: left.plan, right: right.plan },
    kept: [...left.kept, ...right.kept.map((at) => at + width)],
  };
}

/** A scan that comes before its CTE was pruned tells what it needs; one that comes after takes what the CTE has kept. */
function pruneCteScan(plan: Extract<Plan, { kind: 'cteScan' }>, wanted: Needed, ctes: Ctes): Pruned {
  const known = ctes.kept.get(plan.index);
  if (known === undefined) {
    const needed = ctes.needed.get(plan.index) ?? new Set();
    ctes.needed.set(plan.index, new Set([...needed, ...wanted]));
    return { plan, kept: everyPosition(plan) };
  }
  const columns = known.map((at, index) => ({ ...must(plan.columns[at], 'a column'), index }));
  return { plan: { ...plan, columns }, kept: known };
}

/** Keeps all columns of the node; nodes below it may still lose some. */
const pruneWhole = (plan: Plan, ctes: Ctes): Plan =>
  mapChildren(plan, (child) => {
    const all = everyPosition(child);
    return exactly(prune(child, new Set(all), ctes), all);
  });

/** A scan of which no column is read (`count(*)`) gets the empty virtual column. */
function pruneScan(plan: Extract<Plan, { kind: 'scan' }>, wanted: Needed): Pruned {
  const kept = sorted(wanted);
  if (kept.length > 0)
    return { plan: { ...plan, columns: kept.map((at) => must(plan.columns[at], 'a column')) }, kept };
  const nothing = { index: -1, name: '', type: { kind: 'scalar', name: 'BOOLEAN' } } as const;
  return { plan: { ...plan, columns: [nothing] }, kept: [-1] };
}

function prunePicking(plan: Extract<Plan, { kind: 'filter' | 'sort' }>, wanted: Needed, ctes: Ctes): Pruned {
  const { projection } = plan;
  const own = expressionsOf(plan);
  const below = (at: number): number => (projection === null ? at : must(projection[at], 'a projected column'));
  const kept = sorted(atLeastOne(wanted, projection === null ? (readBy(own)[0] ?? 0) : 0));
  const child = prune(plan.child, new Set([...kept.map(below), ...readBy(own)]), ctes);
  const positions = kept.map((at) => child.kept.indexOf(below(at)));
  const isAll = positions.length === child.kept.length && positions.every((at, i) => at === i);
  const rest = { child: child.plan, projection: isAll ? null : positions };
  return {
    kept,
    plan:
      plan.kind === 'filter'
        ? { ...plan, ...rest, conditions: plan.conditions.map((one) => moved(one, child.kept)) }
        : { ...plan, ...rest, orders: movedOrders(plan.orders, child.kept) },
  };
}

/** Keeps all groups, because they decide which rows there are. */
function pruneAggregate(plan: Extract<Plan, { kind: 'aggregate' }>, wanted: Needed, ctes: Ctes): Pruned {
  const { groups, aggregates, groupings } = plan;
  const callAt = (i: number): number => groups.length + i;
  const groupingAt = (i: number): number => groups.length + aggregates.length + i;
  const used = aggregates.flatMap((call, i) => (wanted.has(callAt(i)) ? [{ call, at: callAt(i) }] : []));
  const [first] = aggregates;
  const isBare = used.length === 0 && groups.length === 0 && first !== undefined;
  const calls = isBare ? [{ call: first, at: callAt(0) }] : used;
  const keptGroupings = groupings.flatMap((list, i) =>
    wanted.has(groupingAt(i)) ? [{ list, at: groupingAt(i) }] : [],
  );
  const reads = [...groups, ...calls.map(({ call }): Expression => ({ kind: 'aggregate', call }))];
  const child = prune(plan.child, new Set(readBy(reads)), ctes);
  const move = (one: Expression): Expression => moved(one, child.kept);
  return {
    plan: {
      ...plan,
      child: child.plan,
      groups: groups.map(move),
      aggregates: calls.map(({ call }) => mapAggregate(call, move)),
      groupings: keptGroupings.map(({ list }) => list),
    },
    kept: [...groups.map((_, i) => i), ...calls.map(({ at }) => at), ...keptGroupings.map(({ at }) => at)],
  };
}

function pruneWindow(plan: Extract<Plan, { kind: 'window' }>, wanted: Needed, ctes: Ctes): Pruned {
  const width = outputFields(plan.child).length;
  const calls = plan.calls.flatMap((call, i) => (wanted.has(width + i) ? [{ call, at: width + i }] : []));
  const reads = calls.map(({ call }): Expression => ({ kind: 'window', call }));
  const child = prune(plan.child, new Set([...[...wanted].filter((at) => at < width), ...readBy(reads)]), ctes);
  if (calls.length === 0) return child;
  const over = calls.map(({ call }) => mapWindow(call, (one) => moved(one, child.kept)));
  return { plan: { ...plan, child: child.plan, calls: over }, kept: [...child.kept, ...calls.map(({ at }) => at)] };
}

function pruneJoin(plan: JoinPlan, wanted: Needed, ctes: Ctes): Pruned {
  const hasLeft = plan.type !== 'rightSemi' && plan.type !== 'rightAnti';
  const hasRight = plan.type !== 'semi' && plan.type !== 'anti' && plan.type !== 'mark';
  const leftWidth = outputFields(plan.left).length;
  const leftOut = plan.leftProjection ?? everyPosition(plan.left);
  const rightOut = plan.rightProjection ?? everyPosition(plan.right);
  const offset = hasLeft ? leftOut.length : 0;
  // Old positions of the join's columns -> positions of the side's.
  const leftKept = hasLeft ? sorted(wanted).filter((at) => at < leftOut.length) : [];
  const rightKept = hasRight ? sorted(wanted).filter((at) => at >= offset) : [];
  const mark = plan.type === 'mark' ? [leftOut.length] : [];
  if (leftKept.length + rightKept.length + mark.length === 0) (hasLeft ? leftKept : rightKept).push(0);
  const residual = plan.residual === null ? [] : [...columnsRead(plan.residual)];
  const leftReads = [
    ...leftKept.map((at) => must(leftOut[at], 'a column')),
    ...readBy(plan.conditions.map((condition) => condition.left)),
    ...residual.filter((at) => at < leftWidth),
  ];
  const rightReads = [
    ...rightKept.map((at) => must(rightOut[at - offset], 'a column')),
    ...readBy(plan.conditions.map((condition) => condition.right)),
    ...residual.filter((at) => at >= leftWidth).map((at) => at - leftWidth),
  ];
  const left = prune(plan.left, new Set(leftReads), ctes);
  const right = prune(plan.right, new Set(rightReads), ctes);
  const both = [...left.kept, ...right.kept.map((at) => at + leftWidth)];
  return {
    plan: {
      ...plan,
      left: left.plan,
      right: right.plan,
      conditions: plan.conditions.map((condition) => ({
        ...condition,
        left: moved(condition.left, left.kept),
        right: moved(condition.right, right.kept),
      })),
      residual: plan.residual === null ? null : moved(plan.residual, both),
      leftProjection: hasLeft ? leftKept.map((at) => left.kept.indexOf(must(leftOut[at], 'a column'))) : null,
      rightProjection: hasRight
        ? rightKept.map((at) => right.kept.indexOf(must(rightOut[at - offset], 'a column')))
        : null,
    },
    kept: [...leftKept, ...rightKept, ...mark],
  };
}

/** Prunes the body to learn which columns it reads, then the definition to these, then the body again over the columns that remain. */
function pruneCte(plan: Extract<Plan, { kind: 'cte' }>, wanted: Needed, ctes: Ctes): Pruned {
  const outer = new Map(ctes.kept);
  prune(plan.body, wanted, { needed: ctes.needed, kept: outer });
  const definition = prune(plan.definition, atLeastOne(ctes.needed.get(plan.index) ?? new Set()), ctes);
  const kept = sorted(definition.kept);
  const body = prune(plan.body, wanted, { needed: ctes.needed, kept: new Map([...outer, [plan.index, kept]]) });
  return { plan: { ...plan, definition: exactly(definition, kept), body: body.plan }, kept: body.kept };
}
