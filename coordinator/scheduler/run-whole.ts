import { must } from '#shared/must.ts';
import type { TaskWidth, WholeFragment } from '../distributor/fragment.ts';
import { bringRows, policedArrivals } from './arrival-stage.ts';
import type { FinishedTask } from './finished-task.ts';
import { destinationOf, oneRun, type QueryRun } from './one-run.ts';
import type { PlannedScan } from './plan-scans.ts';
import type { Scheduler } from './scheduler.ts';
import { StageRun } from './stage-run.ts';

/** A query that runs as one task. */
export type WholeQuery = QueryRun & {
  readonly fragment: WholeFragment;
  readonly scans: readonly PlannedScan[];
  /** Cores of the tasks that apply policies; absent = one. */
  readonly policyWidth?: TaskWidth;
};

/** Runs a query whole: a stage of one task, whose rows are the result. @throws SkeinError of the catalogue */
export async function runWhole(scheduler: Scheduler, query: WholeQuery): Promise<FinishedTask> {
  const { scans, encoding } = query;
  const fragment = { ...query.fragment, sql: encoding.sql(query.fragment.sql) };
  return await oneRun(scheduler, query, async (dispatcher) => {
    const arrivals = new Map([
      ...(await bringRows(dispatcher, scans)),
      ...(await policedArrivals(dispatcher, { scans, scheduler, width: query.policyWidth ?? 1 })),
    ]);
    const run = new StageRun({ fragment, producers: [], arrivals, ...destinationOf(query) });
    run.start({ scans, workers: [], isFixed: false });
    await dispatcher.run([run]);
    return must(run.reports()[0], 'the one task has ended');
  });
}
