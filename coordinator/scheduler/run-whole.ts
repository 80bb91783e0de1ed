import { SkeinError } from '#shared/error.ts';
import { must } from '#shared/must.ts';
import type { TaskWidth, WholeFragment } from '../distributor/fragment.ts';
import { isOfValues, policyError } from '../binding/policy-error.ts';
import { bringRows, policedArrivals } from './arrival-stage.ts';
import type { FinishedTask } from './finished-task.ts';
import { inlineBarriers, isRunAsPlanned, readsOnePoliced } from './inline-barrier.ts';
import { destinationOf, oneRun, type QueryRun } from './one-run.ts';
import type { PlannedScan } from './plan-scans.ts';
import type { Scheduler } from './scheduler.ts';
import type { TaskDispatcher } from './dispatch-tasks.ts';
import { StageRun, type Arrivals } from './stage-run.ts';

/** A query that runs as one task. */
export type WholeQuery = QueryRun & {
  readonly fragment: WholeFragment;
  readonly scans: readonly PlannedScan[];
  /** Cores of the tasks that apply policies; absent = one. */
  readonly policyWidth?: TaskWidth;
  /** Policies of its table may be applied by the task that runs the query (`isPlainPlan`). */
  readonly mayInline?: boolean;
};

/** Runs a query whole: a stage of one task, whose rows are the result. @throws SkeinError of the catalogue */
export async function runWhole(scheduler: Scheduler, query: WholeQuery): Promise<FinishedTask> {
  const { fragment, scans, mayInline = false } = query;
  if (!mayInline || !readsOnePoliced(scans)) return await runApart(scheduler, query);
  const inlined = inlineBarriers(fragment, scans);
  if (!isRunAsPlanned(inlined.fragment.sql)) return await runApart(scheduler, query);
  return await applyApart(
    scheduler,
    query,
    () => runTask(scheduler, { ...query, ...inlined }, NO_BARRIERS),
    () => runApart(scheduler, query),
  );
}

/**
 * Runs a query whose tasks apply policies themselves. An error that has to do with values may be of a policy or of the statement, and only one
 * of them may be told: applying the policies by tasks of their own says which.
 * @param apart runs the query so, while nothing of its result has been sent
 */
export async function applyApart<T>(
  scheduler: Scheduler,
  query: QueryRun & Pick<WholeQuery, 'scans' | 'policyWidth'>,
  inline: () => Promise<T>,
  apart: () => Promise<T>,
): Promise<T> {
  try {
    return await inline();
  } catch (thrown) {
    const error = SkeinError.of(thrown);
    const seesPolicies = query.scans.every(({ policed }) => policed?.reading.seesPolicies !== false);
    if (query.signal.aborted || !isOfValues(error)) throw policyError(error, seesPolicies);
    if (query.mayStartOver()) return await apart();
    await oneRun(scheduler, { ...query, onStart: () => undefined }, (dispatcher) =>
      applyPolicies(scheduler, query, dispatcher),
    );
    throw error;
  }
}

/** Applies policies by tasks of their own, before the task of the query runs. */
const runApart = (scheduler: Scheduler, query: WholeQuery): Promise<FinishedTask> =>
  runTask(scheduler, query, (dispatcher) => applyPolicies(scheduler, query, dispatcher));

const NO_BARRIERS = (): Promise<Arrivals> => Promise.resolve(new Map());

const applyPolicies = (
  scheduler: Scheduler,
  { scans, policyWidth = 1 }: Pick<WholeQuery, 'scans' | 'policyWidth'>,
  dispatcher: TaskDispatcher,
): Promise<Arrivals> => policedArrivals(dispatcher, { scans, scheduler, width: policyWidth });

async function runTask(
  scheduler: Scheduler,
  query: WholeQuery,
  barriers: (dispatcher: TaskDispatcher) => Promise<Arrivals>,
): Promise<FinishedTask> {
  const { scans, encoding } = query;
  const fragment = { ...query.fragment, sql: encoding.sql(query.fragment.sql) };
  return await oneRun(scheduler, query, async (dispatcher) => {
    const arrivals = new Map([...(await bringRows(dispatcher, scans)), ...(await barriers(dispatcher))]);
    const run = new StageRun({ fragment, producers: [], arrivals, ...destinationOf(query) });
    run.start({ scans, workers: [], isFixed: false });
    await dispatcher.run([run]);
    return must(run.reports()[0], 'the one task has ended');
  });
}
