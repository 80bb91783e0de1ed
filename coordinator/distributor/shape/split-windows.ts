import { must } from '#shared/must.ts';
import { expressionKey } from '../../plan/expression-tree.ts';
import type { WindowCall } from '../../plan/expression.ts';
import { outputFields } from '../../plan/plan-schema.ts';
import { mapChildren } from '../../plan/plan-tree.ts';
import type { Plan } from '../../plan/plan.ts';

type WindowPlan = Extract<Plan, { kind: 'window' }>;

/**
 * ```
 * window by a: f, by b: g         project (the columns in their order)
 *   child                    ->     window by b: g
 *                                     window by a: f
 *                                       child
 * ```
 * Splits a window node so that each part is partitioned by its own keys. Does not fire when all calls share a key, by which their rows can
 * be partitioned together, nor when a call has no keys and needs all rows in one place.
 */
export function splitWindows(plan: Plan): Plan {
  const below = mapChildren(plan, splitWindows);
  return below.kind === 'window' ? splitWindow(below) : below;
}

function splitWindow(node: WindowPlan): Plan {
  const keys = node.calls.map(({ partitions }) => new Set(partitions.map(expressionKey)));
  const [first, ...others] = keys;
  if (first === undefined || keys.some((set) => set.size === 0)) return node;
  if ([...first].some((key) => others.every((set) => set.has(key)))) return node;
  const groups = new Map<string, number[]>();
  for (const [i, set] of keys.entries()) {
    const key = [...set].sort().join();
    groups.set(key, [...(groups.get(key) ?? []), i]);
  }
  const order = [...groups.values()].flat();
  const width = outputFields(node.child).length;
  const call = (i: number): WindowCall => must(node.calls[i], 'a call');
  const windows = [...groups.values()].reduce<Plan>(
    (child, calls) => ({ kind: 'window', child, calls: calls.map(call) }),
    node.child,
  );
  const fields = outputFields(windows);
  const positions = [
    ...Array.from({ length: width }, (_, i) => i),
    ...node.calls.map((_, i) => width + order.indexOf(i)),
  ];
  return {
    kind: 'project',
    child: windows,
    expressions: positions.map((index) => {
      const { name, type } = must(fields[index], 'a column');
      return { name, expression: { kind: 'column', index, name, type } };
    }),
  };
}
