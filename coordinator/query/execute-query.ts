import type { SqlText } from '#shared/task/sql-text.ts';
import type { StatementContext } from '#shared/sql/statement-context.ts';
import type { UnloadedRows, WriteSink, WrittenFile } from '#shared/task/task.ts';
import { FileListHold } from '#shared/iceberg/file-list-hold.ts';
import { must } from '#shared/must.ts';
import type { DistributionSettings, Fragment, TaskFragment, TaskWidth } from '../distributor/fragment.ts';
import type { Encoding, ResultBatch } from '../sink/result-sink.ts';
import { rowEncoding } from '../sink/row-encoding.ts';
import { TextColumnReader } from '../sink/text-column.ts';
import { singleFragment } from '../distributor/single-fragment.ts';
import type { PreparedQuery } from '../binding/prepared-query.ts';
import type { StatementShape } from '../quarantine/quarantine.ts';
import type { FinishedTask } from '../scheduler/finished-task.ts';
import { chooseWidth } from '../scheduler/choose-width.ts';
import { isPlainPlan } from '../plan/plain-plan.ts';
import type { Plan } from '../plan/plan.ts';
import { namedScans, planScans, type PlannedScan, type ScanContext } from '../scheduler/plan-scans.ts';
import { runStages, type StagedRun } from '../scheduler/run-stages.ts';
import { applyApart, runWhole } from '../scheduler/run-whole.ts';
import { clusterFacts } from '../scheduler/scheduler.ts';
import type { QueryRun } from '../scheduler/one-run.ts';
import type { StageReport } from '../scheduler/stage-report.ts';
import { setting, type SessionState } from '../session/session.ts';
import type { Place } from '../workload/admission.ts';
import { admitQuery, runLimits } from './admit-query.ts';
import { taskProfile } from '../profile/task-profile.ts';
import { describePlan } from './describe-plan.ts';
import { distributeQuery, rescan, runsWhole, type QueryStages } from '../scheduler/distribute-query.ts';
import type { RunningStatement } from './running-statement.ts';
import type { RunnerServices } from './runner-services.ts';
import { keysOf } from './keys-of.ts';

/** A query that is about to run, and the receiver of its rows. */
export type QueryExecution = RunningStatement & {
  readonly query: PreparedQuery;
  readonly context: StatementContext;
  /** The place of another query of the same statement, which waits for this one's rows; null = the query needs its own. */
  readonly place: Place | null;
  /** Called when the query has waited for its place: resolves it again unless its tables can still be read as they were bound. */
  readonly renew: (place: Place) => Promise<PreparedQuery>;
  /** Called when the query is to be distributed and its plan is shared: makes it a plan of its own. */
  readonly planAlone: (place: Place) => Promise<PreparedQuery>;
  /** Shape of the statement, which the quarantine refuses after a run of it hangs. */
  readonly shape: StatementShape;
  readonly profile: boolean;
  /** The form in which the rows come, or the files that they are written to. */
  readonly destination: { readonly kind: 'rows'; readonly encoding: Encoding } | FilesDestination;
  /** Begins the result of the query, which may have been resolved again. */
  readonly onStart: (query: PreparedQuery) => void;
  readonly onBatch: (batch: ResultBatch) => Promise<void> | undefined;
};

/** Files that a query's rows are written to; `sql` wraps the text of the last fragment so that its rows are those of the files. */
export type FilesDestination = {
  readonly kind: 'files';
  readonly sink: WriteSink;
  readonly sql: (text: SqlText) => SqlText;
  /** One task writes all rows. */
  readonly inOneTask?: boolean;
};

/** The outcome of a query that ran. */
export type QueryOutcome = {
  /** The query as it ran. */
  readonly query: PreparedQuery;
  /** Rows of the result, as its tasks report them; 0 when they are written to files. */
  readonly rows: number;
  readonly bytesScanned: number;
  /** Fragments that ran. */
  readonly fragments: number;
  readonly scans: readonly PlannedScan[];
  /** The files that its last stage has written, if its rows go to a table. */
  readonly files: readonly WrittenFile[];
  /** The addresses of the rows that theirs replace. */
  readonly replaced: readonly string[];
  /** The files that each task of its last stage has written, if its rows go to a stage. */
  readonly unloaded: readonly UnloadedRows[];
  readonly run:
    | { readonly kind: 'whole'; readonly reason: string; readonly report: FinishedTask }
    | {
        readonly kind: 'staged';
        readonly plan: QueryStages;
        readonly stages: readonly StageReport<Fragment>[];
        readonly starts: number;
      };
};

/**
 * Waits for admission, then runs the query. A waiting query holds only numbers: its files are listed, and it is distributed over the
 * workers, after admission.
 */
export async function executeQuery(execution: QueryExecution): Promise<QueryOutcome> {
  const { active, place } = execution;
  try {
    if (place !== null) return await executeAdmitted({ ...execution, place });
    return await executeInPlace(execution);
  } finally {
    active.profile.ended();
  }
}

async function executeInPlace(execution: QueryExecution): Promise<QueryOutcome> {
  const place = await admitQuery(execution);
  try {
    const query = place.hasWaited ? await execution.renew(place) : execution.query;
    return await executeAdmitted({ ...execution, query, place });
  } finally {
    place.release();
  }
}

type AdmittedExecution = QueryExecution & {
  readonly place: Place;
  /** Policies are applied by tasks of their own; absent = where they may be, by those of the query. */
  readonly policiesApart?: true;
};

/** Runs the query whole on one worker or in stages on several, by the session's settings and the size of the data. */
async function executeAdmitted(execution: AdmittedExecution): Promise<QueryOutcome> {
  const { services, request, active, session, query } = execution;
  const { profile, signal } = active;
  profile.planned(describePlan(query, active));
  const { tenant, sub: principal } = request.caller.claims;
  const { scheduler, compiler } = services;
  using hold = new FileListHold(services.fileLists, tenant);
  const scanContext = { tables: services.tables, tenant, hold, signal, freshKey: keysOf(services, tenant) };
  const scans = await planScans(query.scans, scanContext);
  await scheduler.pool.available(signal);
  const { destination } = execution;
  const inOneTask = destination.kind === 'files' && destination.inOneTask === true;
  const settings = { ...distributionSettings(session, services), inOneTask };
  if (query.isShared && runsWhole(query, scans, { cluster: clusterFacts(scheduler), settings }) === null) {
    return await executeAdmitted({ ...execution, query: await execution.planAlone(execution.place) });
  }
  const { checker, distributor: passes } = compiler;
  const asker = { tenant, principal };
  const mayInline = mayInlinePolicies(execution);
  const context = { passes, scheduler, settings, scanContext, checker, context: execution.context, asker, mayInline };
  const plan = await distributeQuery(query, scans, context);
  const limits = { settings };
  if (plan.kind === 'whole') return await executeWhole(execution, scans, { ...limits, reason: plan.reason });
  profile.shaped({ kind: 'stages' });
  return await executeInStages(execution, plan, { ...limits, scans, scanContext });
}

/** The cores of a stage's tasks by `skein.task_width`. */
const STAGE_WIDTHS: Readonly<Record<string, TaskWidth>> = { auto: 'share', narrow: 1, wide: 'worker' };

export function distributionSettings(
  state: SessionState,
  { config }: Pick<RunnerServices, 'config'>,
): DistributionSettings {
  const partitions = setting(state, 'skein.partitions', config);
  return {
    distribution: setting(state, 'skein.distribution', config) as DistributionSettings['distribution'],
    joinDistribution: setting(state, 'skein.join_distribution', config) as DistributionSettings['joinDistribution'],
    partitions: partitions === 'auto' ? null : Number(partitions),
    dynamicFilters: setting(state, 'skein.dynamic_filters', config) as NonNullable<
      DistributionSettings['dynamicFilters']
    >,
    stageWidth: must(STAGE_WIDTHS[setting(state, 'skein.task_width', config)], 'a width'),
  };
}

type Limits = { readonly settings: DistributionSettings };

/** The part of a run that does not depend on how the query is distributed. */
function queryRun(execution: AdmittedExecution): QueryRun {
  const { services, request, active, query, context, profile, destination, place, shape } = execution;
  const { tenant, sub: principal } = request.caller.claims;
  let rows = 0;
  return {
    queryId: request.queryId,
    tenant,
    principal,
    context,
    ...runLimits(execution, place),
    profile: profile ? 'exact' : taskProfile(services, active),
    bounds: query.bounds,
    encoding:
      destination.kind === 'rows'
        ? rowEncoding(
            destination.encoding,
            { columns: query.columns, timeZone: context.timeZone },
            query.memory.lastRows ?? query.features.resultRows,
          )
        : { sql: destination.sql, newReader: () => new TextColumnReader() },
    sink: destination.kind === 'files' ? destination.sink : null,
    signal: active.signal,
    onRun: (id, view) => {
      services.runs.add(id, shape);
      active.follow(view, () => rows);
    },
    onStart: () => {
      rows = 0;
      execution.onStart(query);
    },
    onBatch: (batch) => {
      rows += batch.rows;
      place.worked({ rows: batch.rows, scheduledMs: 0 });
      return execution.onBatch(batch);
    },
    mayStartOver: () => !request.sink.committed,
  };
}

/** An exact profile has all operators of the tasks, and policies must not be among them; what writes files cannot begin again. */
function mayInlinePolicies({ policiesApart, profile, destination, session, services }: AdmittedExecution): boolean {
  if (policiesApart === true || profile || destination.kind !== 'rows') return false;
  return setting(session, 'skein.policy_tasks', services.config) === 'auto';
}

async function executeWhole(
  execution: AdmittedExecution,
  scans: readonly PlannedScan[],
  limits: Limits & { readonly reason: string },
): Promise<QueryOutcome> {
  const { services, active, session, query, destination } = execution;
  active.profile.shaped({ kind: 'whole', reason: limits.reason });
  const width = chooseWidth(scans, query.features, setting(session, 'skein.task_width', services.config));
  const fragment = singleFragment(query, width);
  const run = queryRun(execution);
  const policyWidth = limits.settings.stageWidth;
  const mayInline = mayInlinePolicies(execution) && query.plan !== null && isPlainPlan(query.plan);
  const whole = { ...run, scans: namedScans(scans, query.scans), fragment, policyWidth, mayInline };
  const report = await runWhole(services.scheduler, whole);
  const { reason } = limits;
  return {
    query,
    rows: destination.kind === 'rows' ? report.rows : 0,
    bytesScanned: report.bytesScanned,
    fragments: 1,
    scans,
    files: report.files,
    replaced: report.replaced ?? [],
    unloaded: report.unloaded === undefined ? [] : [report.unloaded],
    run: { kind: 'whole', reason, report },
  };
}

type StagedLimits = Limits & {
  /** Scans of the whole query, in case it falls back to running whole. */
  readonly scans: readonly PlannedScan[];
  readonly scanContext: ScanContext;
};

async function executeInStages(
  execution: AdmittedExecution,
  plan: QueryStages,
  limits: StagedLimits,
): Promise<QueryOutcome> {
  const { services } = execution;
  const { scheduler } = services;
  const query = {
    ...queryRun(execution),
    distributed: plan.distributed,
    barriers: plan.barriers,
    inlinesPolicies: plan.inlinesPolicies,
    scans: plan.scans,
    scanFacts: plan.facts,
    settings: limits.settings,
    distributor: services.compiler.distributor,
    check: plan.check,
    onRefused: (fragment: TaskFragment, why: string) => services.compiler.checker.refusedByWorker(fragment, why),
    rescan: (narrowed: Plan, numbers: ReadonlySet<number>) => rescan(plan, narrowed, numbers, limits.scanContext),
  };
  if (plan.inlinesPolicies) {
    const outcome = (): Promise<QueryOutcome> => stagesOutcome(execution, plan, limits, runStages(scheduler, query));
    return await applyApart(scheduler, query, outcome, () => executeAdmitted({ ...execution, policiesApart: true }));
  }
  return await stagesOutcome(execution, plan, limits, runStages(scheduler, query));
}

async function stagesOutcome(
  execution: AdmittedExecution,
  plan: QueryStages,
  limits: StagedLimits,
  running: Promise<StagedRun>,
): Promise<QueryOutcome> {
  const { destination } = execution;
  const ran = await running;
  if (ran.kind === 'whole') return executeWhole(execution, limits.scans, { ...limits, reason: ran.reason });
  const { stages, rows, starts } = ran;
  const bytesScanned = stages.reduce(
    (sum, { tasks }) => tasks.reduce((bytes, one) => bytes + one.bytesScanned, sum),
    0,
  );
  return {
    query: execution.query,
    rows: destination.kind === 'rows' ? rows : 0,
    bytesScanned,
    fragments: stages.length,
    scans: plan.scans,
    files: stages.flatMap(({ tasks }) => tasks.flatMap(({ files }) => files)),
    replaced: stages.flatMap(({ tasks }) => tasks.flatMap(({ replaced = [] }) => replaced)),
    unloaded: stages.flatMap(({ tasks }) =>
      tasks.flatMap(({ unloaded }) => (unloaded === undefined ? [] : [unloaded])),
    ),
    run: { kind: 'staged', plan, stages, starts },
  };
}
