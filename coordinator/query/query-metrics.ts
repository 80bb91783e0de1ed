import { exportMemoryUses } from '#shared/memory-uses.ts';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { measureTurns } from '#shared/turn-metrics.ts';
import { WORK_CLASSES, type WorkClass } from '../workload/work-class.ts';
import type { HistoryRow } from '../history/history-record.ts';

/** Sources of the gauges' values, read at every scrape. */
export type MetricSources = {
  readonly leading: () => number;
  readonly running: () => number;
  readonly queued: () => number;
  readonly workersLive: () => number;
  readonly pairsApart: () => number;
  readonly workersKnown: () => number;
  readonly sessions: () => number;
  readonly workloadValid: () => number;
  readonly historyWaiting: () => number;
  readonly metadataCacheBytes: () => number;
  readonly fileListBytes: () => number;
};

export type QueryMetrics = Disposable & {
  readonly registry: Registry;
  /** Counts a statement that has ended. */
  readonly ended: (row: HistoryRow, workClass: WorkClass | null) => void;
  /** Counts a query that asked for a place, and how long it waited. */
  readonly admission: (workClass: WorkClass, outcome: AdmissionOutcome, waitedMs: number) => void;
  /** Counts a query that has outgrown the estimate of its class. */
  readonly reclassified: (from: WorkClass, to: WorkClass) => void;
  readonly planned: (elapsedMs: number) => void;
  readonly taskRetried: () => void;
  readonly fragmentRefused: () => void;
  /** Counts a statement that ended because rows of it were lost or doubled on their way. */
  readonly rowsMiscounted: () => void;
  /** Counts a statement that asked for what Postgres' catalog has not here. */
  readonly catalogUnknown: () => void;
};

/** How a query's wait for a place ended: `refused` when a queue was full, `left` when it was stopped before. */
const ADMISSION_OUTCOMES = ['admitted', 'refused', 'left'] as const;
type AdmissionOutcome = (typeof ADMISSION_OUTCOMES)[number];

/** Label of statements that were not classified. */
const NO_CLASS = 'none';

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

export function queryMetrics(sources: MetricSources): QueryMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const turns = measureTurns(registry);
  exportMemoryUses(registry);
  gaugesOf(registry, sources);
  const { admissions, admissionWait, reclassified } = admissionMetrics(registry);
  const { queries, duration, waiting, planning, rows, bytes } = statementMetrics(registry);
  const { retries, refused, miscounted, unknown } = faultMetrics(registry);
  return {
    registry,
    ended: (row, given) => {
      const workload_class = given ?? NO_CLASS;
      queries.inc({ status: row.status, query_type: row.query_type, code: row.error_code ?? '' });
      const queuedMs = row.queued_at.getTime();
      if (row.ended_at !== null)
        duration.observe({ status: row.status, workload_class }, (row.ended_at.getTime() - queuedMs) / 1000);
      if (row.started_at !== null) waiting.observe({ workload_class }, (row.started_at.getTime() - queuedMs) / 1000);
      rows.inc(row.rows_produced);
      bytes.inc(row.bytes_scanned);
    },
    admission: (workload_class, outcome, waitedMs) => {
      admissions.inc({ workload_class, outcome });
      if (outcome === 'admitted') admissionWait.observe({ workload_class }, waitedMs / 1000);
    },
    reclassified: (from, to) => reclassified.inc({ from, to }),
    planned: (elapsedMs) => planning.observe(elapsedMs / 1000),
    taskRetried: () => retries.inc(),
    fragmentRefused: () => refused.inc(),
    rowsMiscounted: () => miscounted.inc(),
    catalogUnknown: () => unknown.inc(),
    [Symbol.dispose]: () => turns[Symbol.dispose](),
  };
}

function gaugesOf(registry: Registry, sources: MetricSources): void {
  const registers = [registry];
  const gauge = (name: string, help: string, read: () => number): Gauge =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  gauge('skein_coordinator_active', '1 while this coordinator is the active one', sources.leading);
  gauge('skein_queries_running', 'Queries that run now', sources.running);
  gauge('skein_queries_queued', 'Queries that wait for admission', sources.queued);
  gauge('skein_workers_live', 'Workers that take tasks', sources.workersLive);
  gauge('skein_worker_pairs_apart', 'Pairs of live workers of which one does not reach the other', sources.pairsApart);
  gauge('skein_workers_known', 'Workers that membership names', sources.workersKnown);
  gauge('skein_sessions', 'Sessions that hold state', sources.sessions);
  gauge(
    'skein_workload_file_valid',
    '0 while the workload file is not valid and one before it is in force',
    sources.workloadValid,
  );
  gauge('skein_history_waiting', 'History records that wait to be written', sources.historyWaiting);
  gauge('skein_metadata_cache_bytes', 'Bytes of cached table metadata', sources.metadataCacheBytes);
  gauge('skein_file_list_bytes', 'Bytes of the lists of files of queries that run', sources.fileListBytes);
}

function admissionMetrics(registry: Registry) {
  const registers = [registry];
  const admissions = new Counter({
    name: 'skein_admissions_total',
    help: 'Queries that asked for a place, by class and by how their wait ended',
    labelNames: ['workload_class', 'outcome'] as const,
    registers,
  });
  const admissionWait = new Histogram({
    name: 'skein_admission_wait_seconds',
    help: 'Time that admitted queries have waited for their place',
    labelNames: ['workload_class'] as const,
    buckets: SECONDS,
    registers,
  });
  const reclassified = new Counter({
    name: 'skein_reclassified_total',
    help: 'Running queries that have outgrown the estimate of their class',
    labelNames: ['from', 'to'] as const,
    registers,
  });
  for (const workload_class of WORK_CLASSES) {
    admissionWait.zero({ workload_class });
    for (const outcome of ADMISSION_OUTCOMES) admissions.inc({ workload_class, outcome }, 0);
  }
  for (const [from, to] of [
    ['interactive', 'medium'],
    ['interactive', 'batch'],
    ['medium', 'batch'],
  ] as const)
    reclassified.inc({ from, to }, 0);
  return { admissions, admissionWait, reclassified };
}

function statementMetrics(registry: Registry) {
  const registers = [registry];
  const queries = new Counter({
    name: 'skein_queries_total',
    help: 'Statements that have ended',
    labelNames: ['status', 'query_type', 'code'] as const,
    registers,
  });
  const duration = new Histogram({
    name: 'skein_query_seconds',
    help: 'Time from receipt to end',
    labelNames: ['status', 'workload_class'] as const,
    buckets: SECONDS,
    registers,
  });
  const waiting = new Histogram({
    name: 'skein_query_wait_seconds',
    help: 'Time from receipt to the start of execution: parsing, planning and the queue',
    labelNames: ['workload_class'] as const,
    buckets: SECONDS,
    registers,
  });
  const planning = new Histogram({
    name: 'skein_plan_seconds',
    help: 'Time to resolve and plan a query',
    buckets: SECONDS,
    registers,
  });
  const rows = new Counter({ name: 'skein_rows_total', help: 'Rows returned', registers });
  const bytes = new Counter({ name: 'skein_scanned_bytes_total', help: 'Bytes read from storage', registers });
  return { queries, duration, waiting, planning, rows, bytes };
}

function faultMetrics(registry: Registry) {
  const registers = [registry];
  const retries = new Counter({
    name: 'skein_task_retries_total',
    help: 'Tasks run again after a lost worker or connection',
    registers,
  });
  const refused = new Counter({
    name: 'skein_fragments_refused_total',
    help: 'Queries that ran whole because DuckDB did not bind a fragment that was printed for them: a fault, logged with its SQL',
    registers,
  });
  const miscounted = new Counter({
    name: 'skein_rows_miscounted_total',
    help: 'Statements that ended with INTERNAL_ERROR because other numbers of rows arrived than tasks gave: a fault',
    registers,
  });
  const unknown = new Counter({
    name: 'skein_catalog_statements_unknown_total',
    help: "Statements that named a relation, function or type of Postgres' catalog that is not there: logged without their values",
    registers,
  });
  return { retries, refused, miscounted, unknown };
}
