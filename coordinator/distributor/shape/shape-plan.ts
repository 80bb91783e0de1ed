import type { Plan } from '../../planner/plan.ts';
import { dateConditions } from './date-conditions.ts';
import { expandDelimJoins } from './expand-delim-joins.ts';
import { inlineCtes } from './inline-ctes.ts';
import { joinConditions } from './join-conditions.ts';
import { pruneColumns } from './prune-columns.ts';
import { runPasses, type Pass, type PassOptions } from './run-passes.ts';
import { sideConditions } from './side-conditions.ts';
import { splitWindows } from './split-windows.ts';

/** The passes that prepare a plan for distribution, in order. After each, one DuckDB still gives the same rows. */
export const SHAPE_PASSES: readonly Pass[] = [
  { name: 'expandDelimJoins', run: expandDelimJoins, reason: 'a side that several nodes read can then be a stage' },
  { name: 'joinConditions', run: joinConditions, reason: 'joins go by equalities, wherever those stand' },
  { name: 'inlineCtes', run: inlineCtes, reason: 'what is read once needs no stage' },
  { name: 'dateConditions', run: dateConditions, reason: 'scans compare dates as they are stored' },
  { name: 'sideConditions', run: sideConditions, reason: 'what alternatives say of one side is known to its scan' },
  { name: 'splitWindows', run: splitWindows, reason: 'each window can then go by its own keys' },
  {
    name: 'pruneColumns',
    run: pruneColumns,
    reason: 'last, when it is known who reads what: exchanges carry the rest',
  },
];

/** The plan as `distribute` wants it. */
export const shapePlan = (plan: Plan, options: PassOptions = {}): Plan => runPasses(SHAPE_PASSES, plan, options);
