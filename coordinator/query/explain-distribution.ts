import { printJson, type JsonObject } from '#shared/json.ts';
import type { Fragment, WholePlan } from '../distributor/fragment.ts';
import type { PreparedQuery } from '../planner/prepared-query.ts';
import type { QueryStages } from './distribute-query.ts';

/** EXPLAIN (TYPE DISTRIBUTED). */
export function explainDistribution(
  _query: PreparedQuery,
  plan: QueryStages | WholePlan,
  format: 'text' | 'json',
): readonly string[] {
  if (format === 'json') {
    const whole: JsonObject = plan.kind === 'whole' ? { whole: plan.reason } : {};
    const fragments = plan.kind === 'whole' ? [] : plan.distributed.fragments.map(fragmentJson);
    return [printJson({ ...whole, fragments }, 2)];
  }
  if (plan.kind === 'whole') return [`One worker runs the whole query: ${plan.reason}`];
  return plan.distributed.fragments.flatMap((fragment) => [
    `Stage ${fragment.stage} by ${fragment.tasks.kind} -> ${fragment.output?.kind ?? 'result'}  {rows: ${fragment.estimate.rows}}`,
    `       ${fragment.reason}`,
  ]);
}

const fragmentJson = ({ stage, output, partitions, tasks, estimate, reason }: Fragment): JsonObject => ({
  stage,
  output: output?.kind ?? null,
  partitions,
  tasks: tasks.kind,
  estimates: estimate,
  reason,
});
