import { must } from '#shared/must.ts';
import { mapChildren } from '../../plan/plan-tree.ts';
import type { Plan } from '../../plan/plan.ts';
import { scanUses } from '../../plan/scan-predicates.ts';
import { icebergFields, type TableBinding } from '../../binding/table-binding.ts';

export type SeparateScans = { readonly plan: Plan; readonly scans: readonly TableBinding[] };

/**
 * Gives every scan of a plan its own number, predicate and columns.
 * ```
 * union                          union
 *   filter a < 3                   filter a < 3
 *     scan 0             ->          scan 0: prunes by a < 3
 *   filter a > 8                   filter a > 8
 *     scan 0                         scan 1: prunes by a > 8
 * ```
 * A table that the optimiser removed from the plan gets no scan.
 */
export function separateScans({
  plan,
  scans,
}: {
  readonly plan: Plan;
  readonly scans: readonly TableBinding[];
}): SeparateScans {
  const bindings: TableBinding[] = [];
  const separate = (node: Plan): Plan => {
    if (node.kind !== 'scan') return mapChildren(node, separate);
    bindings.push(must(scans[node.scan], 'a scan of the query'));
    return { ...node, scan: bindings.length - 1 };
  };
  const separated = separate(plan);
  const uses = scanUses(separated, bindings.map(icebergFields));
  const withUse = (binding: TableBinding, i: number): TableBinding =>
    binding.kind === 'iceberg' ? { ...binding, ...must(uses[i], 'a use') } : binding;
  return { plan: separated, scans: bindings.map(withUse) };
}
