import { SkeinError } from '#shared/error.ts';
import { TABLE_FUNCTIONS } from '../resolver/function-policy.ts';
import type { Plan } from './plan.ts';
import { walkPlan } from './plan-tree.ts';

/**
 * The gate again, over what DuckDB made of the query: rows come from our scans and from allow-listed generators, nothing else.
 * @throws NOT_SUPPORTED
 */
export function checkPlan(plan: Plan, scans: number): void {
  for (const node of walkPlan(plan)) {
    if (node.kind === 'generator' && !TABLE_FUNCTIONS.has(node.name)) {
      throw new SkeinError('NOT_SUPPORTED', `the table function ${node.name} is not served`);
    }
    if (node.kind === 'scan' && !(node.scan >= 0 && node.scan < scans)) {
      throw new SkeinError('NOT_SUPPORTED', 'the plan reads a table that the query does not name');
    }
  }
}
