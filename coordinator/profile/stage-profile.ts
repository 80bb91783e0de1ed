import type { StageProfile, TaskProfile } from './profile-types.ts';
import type { StageReport } from '../scheduler/stage-report.ts';
import type { TaskAttempt } from '../scheduler/task-attempt.ts';
import type { TaskEvent } from '../scheduler/task-state.ts';
import { mergeOperators, operatorJson, readOperators } from './operator-profile.ts';
import { scanFigures, stageFigures, taskFigures } from './run-figures.ts';

/** How much of a stage is kept. */
export type StageDetail = {
  /** Attempts, at most: those that did not finish, then the longest. */
  readonly tasksMax: number;
  readonly operators: boolean;
};

export type Moment = {
  /** When the statement was received, in ms since 1970: `startMs` of tasks counts from it. */
  readonly queuedAtMs: number;
  readonly nowMs: number;
  /** The query has ended: what has no end was stopped. */
  readonly isOver: boolean;
};

/** Describes a stage. `estimate` is that of its output; null = unknown. */
export function stageProfile(
  report: StageReport,
  estimate: { readonly rows: number | null; readonly bytes: number | null },
  moment: Moment,
): StageProfile {
  const { fragment, state, scans, tasks, attempts, dynamicFilters, tasksKnown } = report;
  const operators = mergeOperators(tasks.map((task) => readOperators(task.profile))).map(operatorJson);
  return {
    stage: fragment.stage,
    state: state === 'running' && moment.isOver ? 'stopped' : state,
    tasksBy: fragment.tasks.kind,
    ...('output' in fragment
      ? { output: fragment.output?.kind ?? 'result', partitions: fragment.partitions, reason: fragment.reason }
      : { output: 'result', partitions: 1, reason: null }),
    inputs: fragment.inputs.map(({ stage, read }) => ({ stage, read })),
    estimatedRows: rounded(estimate.rows),
    estimatedBytes: rounded(estimate.bytes),
    ...taskFigures(tasks),
    startMs: report.startedAtMs - moment.queuedAtMs,
    ...stageFigures(report),
    tasksKnown,
    tasksDone: tasks.length,
    scans: scanFigures(
      scans,
      fragment.scans.map(({ scan }) => scan),
      tasks,
    ).map(({ number, table, snapshot, figures }) => ({ scan: number, table, snapshot, ...figures })),
    // Their bounds are values of the data, which whoever may read the profile need not be allowed to see.
    dynamicFilters: dynamicFilters.map(({ column, stage }) => ({ column, stage })),
    ...(operators.length === 0 ? {} : { operators }),
    tasks: attempts.map((attempt) => taskProfile(attempt, moment)),
    tasksOmitted: 0,
  };
}

/** The stage with less detail. */
export function cutStage(stage: StageProfile, { tasksMax, operators: keepsOperators }: StageDetail): StageProfile {
  const { tasks, tasksOmitted, operators, ...rest } = stage;
  const kept = notable(tasks, tasksMax);
  return {
    ...rest,
    ...(keepsOperators && operators !== undefined ? { operators } : {}),
    tasks: [...kept],
    tasksOmitted: tasksOmitted + tasks.length - kept.length,
  };
}

const rounded = (value: number | null): number | null => (value === null ? null : Math.round(value));

/** The attempts that say most about where the time went, in their order. */
function notable(tasks: readonly TaskProfile[], max: number): readonly TaskProfile[] {
  if (tasks.length <= max) return tasks;
  const weight = ({ state, elapsedMs }: TaskProfile): number => (state === 'finished' ? elapsedMs : Infinity);
  const kept = new Set(
    tasks.toSorted((a, b) => Number(weight(b) > weight(a)) - Number(weight(b) < weight(a))).slice(0, max),
  );
  return tasks.filter((task) => kept.has(task));
}

function taskProfile({ task, worker, threads, sentAtMs, end }: TaskAttempt, moment: Moment): TaskProfile {
  const event = end?.event;
  const place = { task, worker, threads, state: stateOf(event, moment) };
  const times = { startMs: sentAtMs - moment.queuedAtMs, elapsedMs: (end?.atMs ?? moment.nowMs) - sentAtMs };
  if (event?.kind === 'failed') return { ...place, ...times, error: event.error.code };
  if (event?.kind !== 'finished') return { ...place, ...times };
  const { scans } = event.report;
  return {
    ...place,
    ...times,
    ...taskFigures([event.report]),
    rowGroups: scans.reduce((sum, scan) => sum + scan.rowGroups, 0),
    rowGroupsPruned: scans.reduce((sum, scan) => sum + scan.rowGroupsPruned, 0),
  };
}

function stateOf(event: TaskEvent | undefined, { isOver }: Moment): TaskProfile['state'] {
  if (event === undefined) return isOver ? 'stopped' : 'running';
  if (event.kind === 'placed' || event.kind === 'outputLost') return 'running';
  return event.kind === 'failed' && event.error.code === 'QUERY_CANCELLED' ? 'stopped' : event.kind;
}
