import type { Plan } from '../../plan/plan.ts';
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
  {
    name: 'expandDelimJoins',
    run: expandDelimJoins,
    reason: 'first, so that a side with several readers can become a stage',
  },
  { name: 'joinConditions', run: joinConditions, reason: 'outer joins can then be hashed by their equalities' },
  { name: 'inlineCtes', run: inlineCtes, reason: 'a common table expression with one reader needs no stage' },
  { name: 'dateConditions', run: dateConditions, reason: 'scans compare dates as they are stored' },
  {
    name: 'sideConditions',
    run: sideConditions,
    reason: 'scans then know the conditions that an OR implies for one side',
  },
  { name: 'splitWindows', run: splitWindows, reason: 'each window can then be partitioned by its own keys' },
  {
    name: 'pruneColumns',
    run: pruneColumns,
    reason: 'last, when it is known which columns are read: exchanges carry only these',
  },
];

/** Shapes a plan for `distribute`. */
export const shapePlan = (plan: Plan, options: PassOptions = {}): Plan => runPasses(SHAPE_PASSES, plan, options);
