import type { StatementContext, TaskReport } from '#proto/task.ts';
import { parseBytes } from '#shared/config/config-schema.ts';
import { FileListHold } from '#shared/iceberg/file-list-hold.ts';
import type { DistributionSettings } from '../distributor/fragment.ts';
import { jsonRows } from '../distributor/print/json-rows.ts';
import type { PreparedQuery } from '../planner/prepared-query.ts';
import type { StatementShape } from '../quarantine/quarantine.ts';
import { isWide, NARROW_MEMORY_BYTES } from '../scheduler/choose-width.ts';
import { planScans, type PlannedScan, type ScanContext } from '../scheduler/plan-scans.ts';
import { newRunId } from '../scheduler/run-id.ts';
import { runQuery } from '../scheduler/run-query.ts';
import { runStages } from '../scheduler/run-stages.ts';
import type { StageReport } from '../scheduler/stage-report.ts';
import { TextColumnReader } from '../scheduler/text-column.ts';
import { setting, type SessionState } from '../session/session.ts';
import type { ActiveQuery } from './active-query.ts';
import { distributeQuery, rescan, type QueryStages } from './distribute-query.ts';
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
  /** Shape of the statement, which the quarantine refuses after a run of it hangs. */
  readonly shape: StatementShape;
  readonly profile: boolean;
  readonly onStart: () => void;
  readonly onRows: (bytes: Buffer) => Promise<void> | undefined;
};

/** The outcome of a query that ran. */
export type QueryOutcome = {
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
 * Waits for admission, then runs the query whole on one worker or in stages on several, by the session's settings and the size of the data.
 */
export async function executeQuery(execution: QueryExecution): Promise<QueryOutcome> {
  const { services, request, active, state, query } = execution;
  const { signal } = active;
  const { tenant, sub: principal } = request.caller.claims;
  using hold = new FileListHold(services.fileLists, tenant);
  const scanContext = { tables: services.tables, tenant, hold, signal };
  const scans = await planScans(query.scans, scanContext);
  const { scheduler, front } = services;
  await scheduler.pool.available(signal);
  const settings = distributionSettings(state, services);
  const { checker, distributor: passes } = front;
  const asker = { tenant, principal };
  const context = { passes, scheduler, settings, scanContext, checker, context: execution.context, asker };
  const plan = await distributeQuery(query, scans, context);
  const place = await services.admission.admit({ asker, signal });
  try {
    active.describe({ resourceGroup: place.resourceGroup, priority: place.priority });
    active.started();
    const limits = { deadlineMs: services.clock.nowMs() + active.leftMs(), settings };
    if (plan.kind === 'whole') return await runWhole(execution, scans, { ...limits, reason: plan.reason });
    return await runInStages(execution, plan, { ...limits, scans, scanContext });
  } finally {
    place.release();
  }
}

export function distributionSettings(
  state: SessionState,
  { config }: Pick<RunnerServices, 'config'>,
): DistributionSettings {
  const partitions = setting(state, 'skein.partitions', config);
  return {
    distribution: setting(state, 'skein.distribution', config) as DistributionSettings['distribution'],
    joinDistribution: setting(state, 'skein.join_distribution', config) as DistributionSettings['joinDistribution'],
    partitions: partitions === 'auto' ? null : Number(partitions),
  };
}

const memoryLimit = ({ state, services }: QueryExecution): number =>
  parseBytes(setting(state, 'skein.query_memory_limit', services.config));

async function runWhole(
  execution: QueryExecution,
  scans: readonly PlannedScan[],
  { deadlineMs, reason }: { readonly deadlineMs: number; readonly reason: string },
): Promise<QueryOutcome> {
  const { services, request, active, state, query, context, profile } = execution;
  const { tenant, sub: principal } = request.caller.claims;
  const wide = isWide(scans, query.features, setting(state, 'skein.task_width', services.config));
  const memoryBytes = memoryLimit(execution);
  let reader = new TextColumnReader();
  let rows = 0;
  const runId = newRunId(request.queryId, services.epoch);
  services.runs.add(runId, execution.shape);
  const report = await runQuery(services.scheduler, {
    queryId: runId,
    tenant,
    principal,
    sql: services.front.jsonSql(query),
    scans,
    context,
    memoryLimitBytes: wide ? memoryBytes : Math.min(memoryBytes, NARROW_MEMORY_BYTES),
    wide,
    collected: query.features.selective,
    profile,
    bounds: query.bounds,
    deadlineMs,
    signal: active.signal,
    onStart: () => {
      reader = new TextColumnReader();
      rows = 0;
      execution.onStart();
    },
    onMessage: (message) => {
      const batch = reader.read(message);
      if (batch === undefined) return undefined;
      rows += batch.rows;
      return execution.onRows(batch.bytes);
    },
    mayRetry: () => !request.sink.committed,
  });
  return { rows, bytesScanned: report.bytesScanned, fragments: 1, scans, run: { kind: 'whole', reason, report } };
}

type StagedLimits = {
  readonly deadlineMs: number;
  readonly settings: DistributionSettings;
  /** Scans of the whole query, in case it falls back to running whole. */
  readonly scans: readonly PlannedScan[];
  readonly scanContext: ScanContext;
};

async function runInStages(execution: QueryExecution, plan: QueryStages, limits: StagedLimits): Promise<QueryOutcome> {
  const { services, request, active, query, context, profile } = execution;
  const { tenant, sub: principal } = request.caller.claims;
  const types = query.columns.map((column) => column.type);
  let rows = 0;
  const run = await runStages(services.scheduler, {
    queryId: request.queryId,
    tenant,
    principal,
    context,
    memoryLimitBytes: memoryLimit(execution),
    profile,
    bounds: query.bounds,
    deadlineMs: limits.deadlineMs,
    signal: active.signal,
    distributed: plan.distributed,
    scans: plan.scans,
    scanFacts: plan.facts,
    settings: limits.settings,
    distributor: services.front.distributor,
    jsonSql: (sql) => jsonRows(sql, types),
    check: plan.check,
    onRefused: (fragment, why) => services.front.checker.refusedByWorker(fragment, why),
    rescan: (narrowed, numbers) => rescan(plan, narrowed, numbers, limits.scanContext),
    onRun: (run) => services.runs.add(run, execution.shape),
    onStart: () => {
      rows = 0;
      execution.onStart();
    },
    onRows: (bytes, count) => {
      rows += count;
      return execution.onRows(bytes);
    },
    mayStartOver: () => !request.sink.committed,
  });
  if (run.kind === 'whole') return runWhole(execution, limits.scans, { ...limits, reason: run.reason });
  const { stages, starts } = run;
  const bytesScanned = stages.reduce(
    (sum, { tasks }) => tasks.reduce((bytes, one) => bytes + one.bytesScanned, sum),
    0,
  );
  return {
    rows,
    bytesScanned,
    fragments: stages.length,
    scans: plan.scans,
    run: { kind: 'staged', plan, stages, starts },
  };
}
