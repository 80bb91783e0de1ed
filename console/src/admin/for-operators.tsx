import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import type { ClusterEntry, QuarantineEntry } from '#coordinator/api/http/api-types.ts';
import { call, callJson, type ApiError } from '../api/call.ts';
import { Problem } from '../app/problem.tsx';
import { printTime } from '../app/print-figures.ts';

/** The workload file's problem, and the statements in quarantine, of which one is lifted by its button. */
export function ForOperators(): ReactNode {
  const cluster = useQuery<ClusterEntry, ApiError>({
    queryKey: ['cluster file'],
    queryFn: () => callJson('/api/cluster?limit=1'),
  });
  const quarantine = useQuery<{ readonly quarantine: readonly QuarantineEntry[] }, ApiError>({
    queryKey: ['quarantine'],
    queryFn: () => callJson('/api/quarantine'),
  });
  const problem = cluster.data?.workload_file_problem;
  return (
    <>
      {typeof problem === 'string' ? <p role="alert">{problem}</p> : null}
      {problem === null ? <p className="quiet">The workload file is in force as it is.</p> : null}
      {quarantine.error === null ? null : (
        <p className="quiet">Statements in quarantine are for the operator: {quarantine.error.message}</p>
      )}
      {quarantine.data === undefined ? null : (
        <Quarantine entries={quarantine.data.quarantine} onLifted={() => void quarantine.refetch()} />
      )}
    </>
  );
}

type Props = { readonly entries: readonly QuarantineEntry[]; readonly onLifted: () => void };

function Quarantine({ entries, onLifted }: Props): ReactNode {
  const [error, complain] = useState<ApiError | null>(null);
  if (entries.length === 0) return <p className="quiet">No statement is in quarantine.</p>;
  return (
    <>
      {error === null ? null : <Problem error={error} />}
      <div className="scroll" role="region" aria-label="Quarantine" tabIndex={0}>
        <table>
          <thead>
            <tr>
              {['Statement', 'User', 'Why', 'Since', 'Until', 'Lift'].map((title) => (
                <th key={title} scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {entries.map(({ id, sql, username, reason, killed_at: since, until }) => (
              <tr key={id}>
                <td className="text">{sql}</td>
                <td className="text">{username}</td>
                <td className="text">{reason}</td>
                <td>{printTime(since)}</td>
                <td>{printTime(until)}</td>
                <td>
                  <button
                    type="button"
                    onClick={() => void call(`/api/quarantine/${id}`, { method: 'DELETE' }).then(onLifted, complain)}
                  >
                    Lift
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
