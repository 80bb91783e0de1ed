import { useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import type { ClusterSeriesEntry } from '#coordinator/api/http/observe-operations.ts';
import { callJson, type ApiError } from '../api/call.ts';

const POLL_MS = 2_000;

/** The answer of an address, asked for again while the page is in sight. */
export const usePolled = <T>(path: string): UseQueryResult<T, ApiError> =>
  useQuery<T, ApiError>({ queryKey: [path], queryFn: () => callJson<T>(path), refetchInterval: POLL_MS });

const SERIES_MS = 5_000;
const POINTS_MAX = 720;

type Lines = Omit<ClusterSeriesEntry, 'step_s'>;

/** The figures of the last hour, and what has come since. */
export function useSeries(): Lines | undefined {
  const client = useQueryClient();
  const { data } = useQuery<Lines, ApiError>({
    queryKey: ['series'],
    queryFn: async () => {
      const before = client.getQueryData<Lines>(['series']);
      const after = before?.seconds.at(-1) ?? 0;
      const more = await callJson<ClusterSeriesEntry>(`/api/cluster/series?after=${after}`);
      return before === undefined ? more : joined(before, more);
    },
    refetchInterval: SERIES_MS,
  });
  return data;
}

function joined(before: Lines, more: Lines): Lines {
  const join = (one: readonly number[], other: readonly number[]): number[] => [...one, ...other].slice(-POINTS_MAX);
  const { running_by_class: classes, ...lines } = before;
  const names = Object.keys(lines).filter((name) => name !== 'step_s') as (keyof typeof lines)[];
  return {
    ...(Object.fromEntries(names.map((name) => [name, join(before[name], more[name])])) as typeof lines),
    running_by_class: {
      interactive: join(classes.interactive, more.running_by_class.interactive),
      medium: join(classes.medium, more.running_by_class.medium),
      batch: join(classes.batch, more.running_by_class.batch),
    },
  };
}
