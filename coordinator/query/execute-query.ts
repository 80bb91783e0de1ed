import type { StatementContext, TaskReport } from '#proto/task.ts';
import { parseBytes } from '#shared/config/config-schema.ts';
import { FileListHold } from '#shared/iceberg/file-list-hold.ts';
import { must } from '#shared/must.ts';
import type { Place } from '../admission/admission.ts';
import { PRIORITIES } from '../admission/classify.ts';
import type { DistributionSettings, TaskWidth } from '../distributor/fragment.ts';
import type { Encoding, ResultBatch } from '../sink/result-sink.ts';
import { rowEncoding } from '../sink/row-encoding.ts';
import { singleFragment } from '../distributor/single-fragment.ts';
import type { PreparedQuery } from '../planner/prepared-query.ts';
import type { StatementShape } from '../quarantine/quarantine.ts';
import { chooseWidth } from '../scheduler/choose-width.ts';
import { planScans, type PlannedScan, type ScanContext } from '../scheduler/plan-scans.ts';
import { runStages } from '../scheduler/run-stages.ts';
import { runWhole } from '../scheduler/run-whole.ts';
import { clusterFacts } from '../scheduler/scheduler.ts';
import type { QueryRun } from '../scheduler/one-run.ts';
import type { StageReport } from '../scheduler/stage-report.ts';
import { setting, type SessionState } from '../session/session.ts';
import type { ActiveQuery } from './active-query.ts';
import { classifyQuery } from './classify-query.ts';
import { distributeQuery, rescan, runsWhole, type QueryStages } from './distribute-query.ts';
import type { StatementRequest } from './query-service.ts';
import type { RunnerServices } from './runner-services.ts';

/** A query that is about to run, and the receiver of its rows. */
export type QueryExecution = {
  readonly services: RunnerServices;
  readonly request: StatementRequest;
  readonly active: ActiveQuery;
  readonly state: SessionState;
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
  readonly encoding: Encoding;
  /** Begins the result of the query, which may have been resolved again. */
  readonly onStart: (query: PreparedQuery) => void;
  readonly onBatch: (batch: ResultBatch) => Promise<void> | undefined;
};

/** The outcome of a query that ran. */
export type QueryOutcome = {
  /** The query as it ran. */
  readonly query: PreparedQuery;
  readonly rows: number;
  readonly bytesScanned: number;
  /** Fragments that ran. */
  readonly fragments: number;
  readonly scans: readonly PlannedScan[];
  readonly run:
    | { readonly kind: 'whole'; readonly reason: string; readonly report: TaskReport }
    | {
        readonly kind: 'staged';
        readonly plan: QueryStages;
        readonly stages: readonly StageReport[];
        readonly starts: number;
      };
};

/**
 * Waits for admission, then runs the query. A waiting query holds only numbers: its files are listed, and it is distributed over the
 * workers, after admission.
 */
export async function executeQuery(execution: QueryExecution): Promise<QueryOutcome> {
  if (execution.place !== null) return await executeAdmitted({ ...execution, place: execution.place });
  const place = await admit(execution);
  try {
    const { active } = execution;
    active.describe({ resourceGroup: place.resourceGroup });
    active.started();
    const query = place.hasWaited ? await execution.renew(place) : execution.query;
    return await executeAdmitted({ ...execution, query, place });
  } finally {
    place.release();
  }
}

/** Classifies the query and waits for its place. */
async function admit({ services, request, active, state, query }: QueryExecution): Promise<Place> {
  const { signal } = active;
  const { tenant, sub: principal } = request.caller.claims;
  const wanted = setting(state, 'service.workload_class', services.config);
  const workClass = await classifyQuery(query, wanted, { tables: services.tables, tenant, signal });
  active.describe({ priority: PRIORITIES[workClass] });
  return services.admission.admit({ asker: { tenant, principal }, signal });
}

/** Runs the query whole on one worker or in stages on several, by the session's settings and the size of the data. */
async function executeAdmitted(execution: QueryExecution & { readonly place: Place }): Promise<QueryOutcome> {
  const { services, request, active, state, query } = execution;
  const { signal } = active;
  const { tenant, sub: principal } = request.caller.claims;
  const { scheduler, front, clock } = services;
  using hold = new FileListHold(services.fileLists, tenant);
  const scanContext = { tables: services.tables, tenant, hold, signal };
  const scans = await planScans(query.scans, scanContext);
  await scheduler.pool.available(signal);
  const settings = distributionSettings(state, services);
  if (query.isShared && runsWhole(query, scans, { cluster: clusterFacts(scheduler), settings }) === null) {
    return await executeAdmitted({ ...execution, query: await execution.planAlone(execution.place) });
  }
  const { checker, distributor: passes } = front;
  const asker = { tenant, principal };
  const context = { passes, scheduler, settings, scanContext, checker, context: execution.context, asker };
  const plan = await distributeQuery(query, scans, context);
  const limits = { deadlineMs: clock.nowMs() + active.leftMs(), settings };
  if (plan.kind === 'whole') return await executeWhole(execution, scans, { ...limits, reason: plan.reason });
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
    stageWidth: must(STAGE_WIDTHS[setting(state, 'skein.task_width', config)], 'a width'),
  };
}

type Limits = {
  readonly deadlineMs: number;
  readonly settings: DistributionSettings;
};

/** The part of a run that does not depend on how the query is distributed. `rows` counts the result's rows. */
function queryRun(
  execution: QueryExecution,
  { deadlineMs }: Limits,
): { readonly run: QueryRun; readonly rows: () => number } {
  const { services, request, active, state, query, context, profile } = execution;
  const { tenant, sub: principal } = request.caller.claims;
  let rows = 0;
  const run: QueryRun = {
    queryId: request.queryId,
    tenant,
    principal,
    context,
    memoryLimitBytes: parseBytes(setting(state, 'skein.query_memory_limit', services.config)),
    profile,
    bounds: query.bounds,
    deadlineMs,
    encoding: rowEncoding(execution.encoding, { columns: query.columns, timeZone: context.timeZone }),
    signal: active.signal,
    onRun: (id, progress) => {
      services.runs.add(id, execution.shape);
      active.follow(progress, () => rows);
    },
    onStart: () => {
      rows = 0;
      execution.onStart(query);
    },
    onBatch: (batch) => {
      rows += batch.rows;
      return execution.onBatch(batch);
    },
    mayStartOver: () => !request.sink.committed,
  };
  return { run, rows: () => rows };
}

async function executeWhole(
  execution: QueryExecution,
  scans: readonly PlannedScan[],
  limits: Limits & { readonly reason: string },
): Promise<QueryOutcome> {
  const { services, state, query } = execution;
  const width = chooseWidth(scans, query.features, setting(state, 'skein.task_width', services.config));
  const fragment = singleFragment(query, width);
  const { run, rows } = queryRun(execution, limits);
  const report = await runWhole(services.scheduler, { ...run, scans, fragment });
  const { reason } = limits;
  return {
    query,
    rows: rows(),
    bytesScanned: report.bytesScanned,
    fragments: 1,
    scans,
    run: { kind: 'whole', reason, report },
  };
}

type StagedLimits = Limits & {
  /** Scans of the whole query, in case it falls back to running whole. */
  readonly scans: readonly PlannedScan[];
  readonly scanContext: ScanContext;
};

async function executeInStages(
  execution: QueryExecution,
  plan: QueryStages,
  limits: StagedLimits,
): Promise<QueryOutcome> {
  const { services } = execution;
  const { run, rows } = queryRun(execution, limits);
  const ran = await runStages(services.scheduler, {
    ...run,
    distributed: plan.distributed,
    scans: plan.scans,
    scanFacts: plan.facts,
    settings: limits.settings,
    distributor: services.front.distributor,
    check: plan.check,
    onRefused: (fragment, why) => services.front.checker.refusedByWorker(fragment, why),
    rescan: (narrowed, numbers) => rescan(plan, narrowed, numbers, limits.scanContext),
  });
  if (ran.kind === 'whole') return executeWhole(execution, limits.scans, { ...limits, reason: ran.reason });
  const { stages, starts } = ran;
  const bytesScanned = stages.reduce(
    (sum, { tasks }) => tasks.reduce((bytes, one) => bytes + one.bytesScanned, sum),
    0,
  );
  return {
    query: execution.query,
    rows: rows(),
    bytesScanned,
    fragments: stages.length,
    scans: plan.scans,
    run: { kind: 'staged', plan, stages, starts },
  };
}
