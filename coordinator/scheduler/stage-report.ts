import type { TaskFragment } from '../distributor/fragment.ts';
import { policyError } from '../binding/policy-error.ts';
import type { TaskEvent } from './task-state.ts';
import type { AppliedFilter } from './applied-filter.ts';
import type { FinishedTask } from './finished-task.ts';
import type { PlannedScan } from './plan-scans.ts';
import type { StageRun } from './stage-run.ts';
import type { StageState } from './stage-state.ts';
import type { TaskAttempt } from './task-attempt.ts';

/** Statistics of one stage of a query, which has ended or runs, for EXPLAIN ANALYZE and history. */
export type StageReport<F extends TaskFragment = TaskFragment> = {
  readonly fragment: F;
  readonly state: StageState['kind'];
  /** The planned files of each of the fragment's scans. */
  readonly scans: readonly PlannedScan[];
  /** The dynamic filters on its scans, from the keys of stages that had run. */
  readonly dynamicFilters: readonly AppliedFilter[];
  /** Its tasks that are done. */
  readonly tasks: readonly FinishedTask[];
  /** Tasks that are known: a stage that divides files makes them as workers ask for more. */
  readonly tasksKnown: number;
  /** Attempts that were sent to workers: more than tasks, when some ran again. */
  readonly attempts: readonly TaskAttempt[];
  /** Tasks that ran again, because a worker or what it held was lost. */
  readonly retries: number;
  /** Number of partitions that were divided because they were much bigger than the others. */
  readonly skewed: number;
  /** Time from which its tasks could be sent, in milliseconds since 1970: one that is sent early waits from then on for what they read. */
  readonly startedAtMs: number;
  /** Milliseconds, up to now while it runs. */
  readonly elapsedMs: number;
};

/** Reports of a query's stages, without those that bring rows to workers. */
export const stageReports = (runs: Iterable<StageRun>): readonly StageReport[] =>
  [...runs].filter(({ fragment }) => fragment.tasks.kind !== 'parts').map((run) => stageReport(run));

export function stageReport<F extends TaskFragment>(run: StageRun<F>): StageReport<F> {
  const report = wholeReport(run);
  return run.fragment.policed?.seesPolicies === false ? withoutSources(report) : report;
}

/** A stage that applies policies, to those who may not manage them: what it gave, and nothing of what it read but the bytes. */
function withoutSources<F extends TaskFragment>(report: StageReport<F>): StageReport<F> {
  const { fragment, tasks, attempts } = report;
  return {
    ...report,
    fragment: { ...fragment, scans: [] },
    scans: [],
    tasks: tasks.map(withoutScans),
    attempts: attempts.map(({ end, ...attempt }) => ({
      ...attempt,
      end: end === null ? null : { ...end, event: withoutReads(end.event) },
    })),
  };
}

const withoutScans = (task: FinishedTask): FinishedTask => ({ ...task, scans: [], profile: null });

function withoutReads(event: TaskEvent): TaskEvent {
  if (event.kind === 'finished') return { ...event, report: withoutScans(event.report) };
  return event.kind === 'failed' ? { ...event, error: policyError(event.error, false) } : event;
}

function wholeReport<F extends TaskFragment>(run: StageRun<F>): StageReport<F> {
  const { fragment, state, planned, dynamicFilters, attempts, retries, skewed, startedAtMs, startedMs, endedMs } = run;
  return {
    fragment,
    state: state.kind,
    scans: planned,
    dynamicFilters,
    tasks: state.kind === 'failed' ? attempts.finished() : run.reports(),
    tasksKnown: run.tasksMade,
    attempts: attempts.all,
    retries,
    skewed,
    startedAtMs,
    elapsedMs: (endedMs === 0 ? performance.now() : endedMs) - startedMs,
  };
}
