import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { ClusterEntry, WorkerEntry } from '#coordinator/api/http/api-types.ts';
import { callJson, type ApiError } from '../api/call.ts';

const POLL_MS = 2_000;

/** The answer of an address, asked for again while the page is in sight. */
export const usePolled = <T>(path: string): UseQueryResult<T, ApiError> =>
  useQuery<T, ApiError>({ queryKey: [path], queryFn: () => callJson<T>(path), refetchInterval: POLL_MS });

/** Columns of the figures over time: seconds since 1970, then running, waiting, tasks, memory, spool. */
type Series = readonly (readonly number[])[];

const POINTS_MAX = 1_800;

/** The figures since the page was opened. */
export function useSeries(cluster: ClusterEntry | undefined, atMs: number): Series {
  const [series, setSeries] = useState<Series>([[], [], [], [], [], []]);
  useEffect(() => {
    if (cluster === undefined) return;
    const total = (of: (worker: WorkerEntry) => number | null): number =>
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
