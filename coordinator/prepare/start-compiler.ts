import type { Config } from '#shared/config/config-schema.ts';
import type { Logger } from '#shared/log/logger.ts';
import { advance } from '../distributor/advance.ts';
import { distribute } from '../distributor/distribute.ts';
import { separateScans } from '../distributor/shape/separate-scans.ts';
import { shapePlan } from '../distributor/shape/shape-plan.ts';
import { explainPlan } from '../planner/explain-plan.ts';
import { PlannerPool } from '../planner/planner-pool.ts';
import { queryPreparer } from './prepare-query.ts';
import { FragmentChecker } from '../distributor/check-fragments.ts';
import type { DistributorPasses } from '../scheduler/distribute-query.ts';
import type { QueryCompiler } from './query-compiler.ts';

/**
 * Starts the planners and connects the steps from a query's text to its fragments. `onRefused` is called when DuckDB does not bind a
 * fragment.
 */
export function startCompiler(config: Config, log: Logger, onRefused: () => void): QueryCompiler {
  const planner = new PlannerPool(
    {
      processes: config['planner.processes'],
      timeoutMs: config['planner.timeout'],
      contendedMs: config['planner.contended_timeout'],
      startMs: config['planner.start_timeout'],
      memoryLimitBytes: config['planner.memory_limit'],
      requestsPerProcess: config['planner.requests_per_process'],
      idleBytesMax: config['planner.idle_memory'],
    },
    log,
  );
  return {
    planner,
    prepareQuery: queryPreparer({
      cacheEntries: config['coordinator.plan_cache_entries'],
      cacheBytes: config['coordinator.plan_cache_bytes'],
    }),
    distributor: {
      distribute: (plan, facts) => distribute(plan, facts),
      advance,
      shape: shapeOnce,
    },
    checker: new FragmentChecker(planner, log, onRefused),
    explain: explainPlan,
  };
}

/** Shapes each plan once: a repeated statement gets the same plan and memory, with tables that were bound again. */
const shapeOnce: DistributorPasses['shape'] = ({ plan, scans, memory }) => {
  const separate = separateScans({ plan, scans });
  memory.shaped ??= shapePlan(separate.plan);
  return { plan: memory.shaped, scans: separate.scans };
};
