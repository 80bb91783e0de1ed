import type { Plan } from '../plan/plan.ts';

/** Whether the rows of a query come in an order that it asks for; without a plan they may. */
export function hasOrder(plan: Plan | null): boolean {
  if (plan === null || plan.kind === 'sort') return true;
  return (plan.kind === 'project' || plan.kind === 'filter' || plan.kind === 'limit') && hasOrder(plan.child);
}
