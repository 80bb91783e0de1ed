import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { measureTurns } from '#shared/turn-metrics.ts';
import type { HistoryRow } from '../history/history-record.ts';

/** Sources of the gauges' values, read at every scrape. */
export type MetricSources = {
  readonly leading: () => number;
  readonly running: () => number;
  readonly queued: () => number;
  readonly workersLive: () => number;
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
  readonly ended: (row: HistoryRow) => void;
  readonly planned: (elapsedMs: number) => void;
  readonly taskRetried: () => void;
  readonly fragmentRefused: () => void;
};

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

export function queryMetrics(sources: MetricSources): QueryMetrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const turns = measureTurns(registry);
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
  const queries = new Counter({
    name: 'skein_queries_total',
    help: 'Statements that have ended',
    labelNames: ['status', 'query_type', 'code'] as const,
    registers,
  });
  const duration = new Histogram({
    name: 'skein_query_seconds',
    help: 'Time from receipt to end',
    labelNames: ['status'] as const,
    buckets: SECONDS,
    registers,
  });
  const waiting = new Histogram({
    name: 'skein_query_wait_seconds',
    help: 'Time from receipt to the start of execution: parsing, planning and the queue',
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

  return {
    registry,
    ended: (row) => {
      queries.inc({ status: row.status, query_type: row.query_type, code: row.error_code ?? '' });
      const queuedMs = row.queued_at.getTime();
      if (row.ended_at !== null) duration.observe({ status: row.status }, (row.ended_at.getTime() - queuedMs) / 1000);
      if (row.started_at !== null) waiting.observe((row.started_at.getTime() - queuedMs) / 1000);
      rows.inc(row.rows_produced);
      bytes.inc(row.bytes_scanned);
    },
    planned: (elapsedMs) => planning.observe(elapsedMs / 1000),
    taskRetried: () => retries.inc(),
    fragmentRefused: () => refused.inc(),
    [Symbol.dispose]: () => turns[Symbol.dispose](),
  };
}
