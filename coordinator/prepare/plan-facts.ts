import { unknownFeatures, planFeatures } from '../plan/plan-features.ts';
import { usesOf } from '../binding/large-plan.ts';
import type { PlannerScan, PlanReply } from '../binding/planner.ts';
import type { PreparedQuery } from '../binding/prepared-query.ts';
import { scanUses, type ScanUse } from '../plan/scan-predicates.ts';
import type { BoundTable } from '../resolver/bind-tables.ts';
import { bindingRows, sqlFields } from '../binding/table-binding.ts';
import type { Field } from '#shared/iceberg/type.ts';

/** The facts about tables that planners are given, and those that a plan gives. */

export const plannerScan = (table: BoundTable): PlannerScan => ({
  columns: table.kind === 'iceberg' ? table.sqlFields : sqlFields(table),
  fields: fieldsOf(table),
  rowCount: rowCountOf(table),
});

type PlanUses = Pick<PlanReply, 'plan' | 'large'>;

export function usesIn({ plan: typed, large }: PlanUses, bound: readonly BoundTable[]): readonly ScanUse[] {
  if (large !== null) return usesOf(large);
  if (typed === null) return [];
  return scanUses(typed, bound.map(fieldsOf));
}

const fieldsOf = (table: BoundTable): readonly Field[] => (table.kind === 'iceberg' ? table.fields : []);
const rowCountOf = (table: BoundTable): number | null =>
  table.kind === 'iceberg' ? table.rowCount : bindingRows(table);

export function featuresOf({ plan: typed, large }: PlanReply, bound: readonly BoundTable[]): PreparedQuery['features'] {
  if (large !== null) return large.features;
  const rows = bound.map(rowCountOf);
  return typed === null ? unknownFeatures(rows) : planFeatures(typed, rows);
}
