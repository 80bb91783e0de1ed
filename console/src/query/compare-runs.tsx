import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { callJson, type ApiError } from '../api/call.ts';
import type { RecordEntry } from '#coordinator/api/http/api-types.ts';
import type { QueryProfileEntry } from '#coordinator/api/http/api-types.ts';
import { Problem } from '../app/problem.tsx';
import { printBytes, printCount, printMs } from '../app/print-figures.ts';

type Both = readonly [Ran, Ran];
type Ran = { readonly record: RecordEntry; readonly profile: QueryProfileEntry };

const load = async (id: string): Promise<Ran> => {
  const path = `/api/query-history/${encodeURIComponent(id)}`;
  const [record, profile] = await Promise.all([
    callJson<RecordEntry>(path),
    callJson<QueryProfileEntry>(`${path}/profile`),
  ]);
  return { record, profile };
};

const sum = ({ queries = [] }: QueryProfileEntry, of: 'planMs' | 'queuedMs' | 'distributeMs' | 'runMs'): number =>
  queries.reduce((total, run) => total + run[of], 0);
const stagesOf = ({ queries = [] }: QueryProfileEntry) => queries.flatMap(({ stages }) => stages);

const ROWS: readonly (readonly [string, (ran: Ran) => number, (value: number) => string])[] = [
  ['Time', ({ record }) => record.durationMs ?? 0, printMs],
  ['Planning', ({ profile }) => sum(profile, 'planMs'), printMs],
  ['Waiting', ({ profile }) => sum(profile, 'queuedMs'), printMs],
  ['Distributing', ({ profile }) => sum(profile, 'distributeMs'), printMs],
  ['Running', ({ profile }) => sum(profile, 'runMs'), printMs],
  ['Rows', ({ record }) => record.rowsProduced, printCount],
  ['Read', ({ record }) => record.bytesScanned, printBytes],
  ['Stages', ({ profile }) => stagesOf(profile).length, printCount],
  ['Tasks', ({ profile }) => stagesOf(profile).reduce((all, { tasksKnown }) => all + tasksKnown, 0), printCount],
  ['Spilled', ({ profile }) => stagesOf(profile).reduce((all, { spilledBytes }) => all + spilledBytes, 0), printBytes],
];

/** Two runs side by side. */
export function CompareRuns({ one, other }: { readonly one: string; readonly other: string }): ReactNode {
  const { data, error } = useQuery<Both, ApiError>({
    queryKey: ['compare', one, other],
    queryFn: () => Promise.all([load(one), load(other)]),
  });
  if (error !== null) return <Problem error={error} />;
  if (data === undefined) return <p role="status">Loading …</p>;
  const [left, right] = data;
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="Comparison">
      <table>
        <thead>
          <tr>
            <th scope="col">Figure</th>
            <th scope="col">This query</th>
            <th scope="col">{other.slice(0, 8)}</th>
            <th scope="col">Factor</th>
          </tr>
        </thead>
        <tbody>
          {ROWS.map(([name, valueOf, print]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td className="number">{print(valueOf(left))}</td>
              <td className="number">{print(valueOf(right))}</td>
              <td className="number">{valueOf(left) > 0 ? `× ${(valueOf(right) / valueOf(left)).toFixed(2)}` : '–'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
