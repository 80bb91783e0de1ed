import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { callJson, type ApiError } from '../api/call.ts';

export type Worker = {
  readonly name: string | null;
  readonly state: string;
  readonly since: string;
  readonly version: string | null;
  readonly slots: number | null;
  readonly threads: number;
  readonly running_tasks: number | null;
  readonly memory_limit_bytes: number | null;
  readonly memory_granted_bytes: number | null;
  readonly spool_bytes: number | null;
};
export type ClusterNow = {
  readonly coordinator: {
    readonly id: string;
    readonly version: string;
    readonly epoch: number;
    readonly active_since: string;
  };
  readonly queries_running: number;
  readonly queries_queued: number;
  readonly workers: readonly Worker[];
  readonly total: number;
};
export type Group = {
  readonly path: string;
  readonly running: number;
  readonly queued: number;
  readonly hard_concurrency_limit: number;
  readonly effective_concurrency: number;
  readonly max_queued_queries: number;
  readonly memory_bytes: number;
  readonly soft_memory_limit_bytes: number | null;
  readonly cpu_usage_ms: number;
  readonly soft_cpu_limit_ms: number | null;
  readonly scheduling_policy: string;
};
export type Levels = {
  readonly mlfq: { readonly level_queue_depths: readonly number[]; readonly level_scheduled_ms: readonly number[] };
};
export type LiveQuery = {
  readonly query_id: string;
  readonly state: string;
  readonly sql: string;
  readonly user_id: string;
  readonly username: string;
  readonly resource_group: string;
  readonly workload_class: string | null;
  readonly queue_position: number | null;
  readonly reason: string | null;
  readonly elapsed_ms: number;
  readonly tasks: number;
  readonly tasks_done: number;
};

const POLL_MS = 2_000;

/** The answer of an address, asked for again while the page is in sight. */
export const usePolled = <T>(path: string): UseQueryResult<T, ApiError> =>
  useQuery<T, ApiError>({ queryKey: [path], queryFn: () => callJson<T>(path), refetchInterval: POLL_MS });

/** Columns of the figures over time: seconds since 1970, then running, waiting, tasks, memory, spool. */
type Series = readonly (readonly number[])[];

const POINTS_MAX = 1_800;

/** The figures since the page was opened. */
export function useSeries(cluster: ClusterNow | undefined, atMs: number): Series {
  const [series, setSeries] = useState<Series>([[], [], [], [], [], []]);
  useEffect(() => {
    if (cluster === undefined) return;
    const total = (of: (worker: Worker) => number | null): number =>
      cluster.workers.reduce((sum, worker) => sum + (of(worker) ?? 0), 0);
    const point = [
      atMs / 1_000,
      cluster.queries_running,
      cluster.queries_queued,
      total((worker) => worker.running_tasks),
      total((worker) => worker.memory_granted_bytes),
      total((worker) => worker.spool_bytes),
    ];
    setSeries((before) => before.map((column, i) => [...column, point[i] ?? 0].slice(-POINTS_MAX)));
  }, [cluster, atMs]);
  return series;
}
