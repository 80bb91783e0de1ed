import type { Config } from '#shared/config/config-schema.ts';
import type { Logger } from '#shared/log/logger.ts';
import { jsonRows } from './distributor/json-rows.ts';
import { singleFragment } from './distributor/single-fragment.ts';
import { explainPlan } from './planner/explain-plan.ts';
import { PlannerPool } from './planner/planner-pool.ts';
import { queryPreparer } from './planner/prepare-query.ts';
import type { Front } from './query/run-statement.ts';

/** Starts the planners, and puts the way from a query's text to its fragment together. */
export function startFront(config: Config, log: Logger): Front {
  const planner = new PlannerPool(
    {
      processes: config['planner.processes'],
      timeoutMs: config['planner.timeout'],
      memoryLimitBytes: config['planner.memory_limit'],
      requestsPerProcess: config['planner.requests_per_process'],
    },
    log,
  );
  return {
    planner,
    prepareQuery: queryPreparer({ cacheEntries: config['coordinator.plan_cache_entries'] }),
    jsonSql: (query) =>
      jsonRows(
        singleFragment(query),
        query.columns.map((column) => column.type),
      ),
    explain: explainPlan,
  };
}
