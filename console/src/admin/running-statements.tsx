import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { LiveQueryEntry } from '#coordinator/api/http/api-types.ts';
import { callJson, type ApiError } from '../api/call.ts';
import { printMs } from '../app/print-figures.ts';
import { Problem } from '../app/problem.tsx';

/** How often the list is asked for again. */
const POLL_MS = 5_000;
/** As many as the list of the tenant has. */
const QUERIES_MAX = 500;
const TEXT_MAX = 200;

/** The statements that a user runs now, or waits for. */
export function RunningStatements({ user }: { readonly user: string }): ReactNode {
  const { data, error } = useQuery<{ readonly queries: readonly LiveQueryEntry[] }, ApiError>({
    queryKey: ['live queries'],
    queryFn: () => callJson(`/api/query?limit=${QUERIES_MAX}`),
    refetchInterval: POLL_MS,
  });
  const own = data?.queries.filter(({ username }) => username === user) ?? [];
  if (error !== null) return <Problem error={error} />;
  if (data === undefined) return <p role="status">Loading …</p>;
  if (own.length === 0) return <p className="quiet">Nothing runs.</p>;
  return (
    <ul aria-label={`Statements of ${user}`}>
      {own.map(({ query_id: id, state, sql, elapsed_ms: ms }) => (
        <li key={id}>
          <Link href={`/queries/${id}`}>{sql.slice(0, TEXT_MAX)}</Link> {state}, {printMs(ms)}
        </li>
      ))}
    </ul>
  );
}
