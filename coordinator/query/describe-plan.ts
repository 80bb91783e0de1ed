import { estimateRows } from '../plan/estimate-rows.ts';
import { explainPlan, outlinePlan } from '../planner/explain-plan.ts';
import type { PreparedQuery } from '../binding/prepared-query.ts';
import { bindingRows } from '../binding/table-binding.ts';
import type { ActiveQuery } from './active-query.ts';
import { planTreeOf } from './plan-tree-of.ts';
import type { PlanText } from '../profile/statement-profile.ts';

/** The plan of a query as its profile shows it. Values that history does not keep with the statement's text are not in it, either. */
export const describePlan =
  (query: PreparedQuery, { hidesValues }: Pick<ActiveQuery, 'hidesValues'>) =>
  (): PlanText => ({
    lines: hidesValues ? outlinePlan(query) : explainPlan(query, 'text'),
    treeOf: (stages) => planTreeOf(query, stages, hidesValues),
    estimatedRows: query.plan === null ? null : Math.round(estimateRows(query.plan, query.scans.map(bindingRows))),
    showsPolicies: query.scans.some((scan) => scan.kind === 'policed' && scan.reading.seesPolicies),
  });
