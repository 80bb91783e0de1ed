import { unknownFeatures, planFeatures } from '../plan/plan-features.ts';
import { usesOf } from '../binding/large-plan.ts';
import type { PlannerScan, PlanReply } from '../binding/planner.ts';
import type { PreparedQuery } from '../binding/prepared-query.ts';
import { scanUses, type ReadField, type ScanUse } from '../plan/scan-predicates.ts';
import type { BoundTable } from '../resolver/bind-tables.ts';
import { POLICED_ROWS } from '../binding/policed-binding.ts';
import type { SqlField } from '../plan/sql-type.ts';
import { bindingRows, seenFields, sqlFields } from '../binding/table-binding.ts';

/** The facts about tables that planners are given, and those that a plan gives. */

export const plannerScan = (table: BoundTable): PlannerScan => ({
  columns: columnsOf(table),
  fields: fieldsOf(table),
  rowCount: rowCountOf(table),
});

const columnsOf = (table: BoundTable): readonly SqlField[] => {
  const scan = table.kind === 'policed' ? table.table : table;
  return scan.kind === 'iceberg' ? scan.sqlFields : sqlFields(scan);
};

type PlanUses = Pick<PlanReply, 'plan' | 'large'>;

export function usesIn({ plan: typed, large }: PlanUses, bound: readonly BoundTable[]): readonly ScanUse[] {
  if (large !== null) return usesOf(large);
  if (typed === null) return [];
  return scanUses(typed, bound.map(fieldsOf));
}

const fieldsOf = (table: BoundTable): readonly ReadField[] => {
  if (table.kind === 'policed') return seenFields(table.table.fields, table.policies);
  return table.kind === 'iceberg' ? table.fields : [];
};

function rowCountOf(table: BoundTable): number | null {
  if (table.kind === 'policed') return POLICED_ROWS;
  return table.kind === 'iceberg' ? table.rowCount : bindingRows(table);
}

export function featuresOf({ plan: typed, large }: PlanReply, bound: readonly BoundTable[]): PreparedQuery['features'] {
  if (large !== null) return large.features;
  const rows = bound.map(rowCountOf);
  return typed === null ? unknownFeatures(rows) : planFeatures(typed, rows);
}
