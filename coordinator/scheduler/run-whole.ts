import { SkeinError } from '#shared/error.ts';
import { must } from '#shared/must.ts';
import type { TaskWidth, WholeFragment } from '../distributor/fragment.ts';
import { isOfValues, policyError } from '../binding/policy-error.ts';
import { bringRows, policedArrivals } from './arrival-stage.ts';
import type { FinishedTask } from './finished-task.ts';
import { inlineBarrier } from './inline-barrier.ts';
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
  /** The policies of its one table may be applied by the task that runs the query (`isPlainPlan`). */
  readonly mayInline?: boolean;
};

/** Runs a query whole: a stage of one task, whose rows are the result. @throws SkeinError of the catalogue */
export async function runWhole(scheduler: Scheduler, query: WholeQuery): Promise<FinishedTask> {
  // An exact profile has the operators of the task, and policies must not be among them.
  const mayInline = query.mayInline === true && query.sink === null && query.profile !== 'exact';
  const inline = mayInline ? inlineBarrier(query.fragment, query.scans) : undefined;
  if (inline === undefined) return await runApart(scheduler, query);
  try {
    return await runApart(scheduler, { ...query, ...inline });
  } catch (thrown) {
    const error = SkeinError.of(thrown);
    if (query.signal.aborted || !isOfValues(error)) {
      throw policyError(error, inline.fragment.policed?.seesPolicies === true);
    }
    // Whose error it is, is found out by applying the policies apart.
    if (query.mayStartOver()) return await runApart(scheduler, query);
    await oneRun(scheduler, { ...query, onStart: () => undefined }, (dispatcher) =>
      policedArrivals(dispatcher, { scans: query.scans, scheduler, width: query.policyWidth ?? 1 }),
    );
    throw error;
  }
}

/** Applies policies by tasks of their own, before the task of the query runs. */
async function runApart(scheduler: Scheduler, query: WholeQuery): Promise<FinishedTask> {
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
