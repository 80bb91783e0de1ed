import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { callJson, type ApiError } from '../api/call.ts';
import { Problem } from '../app/problem.tsx';
import { printBytes, printCount, printMs } from '../app/print-figures.ts';
import { SmallTable } from '../statement/statement-panel.tsx';

type Line = {
  readonly bucket: string | null;
  readonly value: string | null;
  readonly count: number;
  readonly durationMs: number;
  readonly bytesScanned: number;
  readonly cuConsumed: number;
};
type Summary = { readonly lines: readonly Line[]; readonly isCut: boolean };

const DAY_S = 86_400;
const DAYS = 30;

/** Compute units, time and bytes by day, and by user or group. */
export function UsagePage(): ReactNode {
  const [by, setBy] = useState('username');
  const from = new Date(Math.floor(Date.now() / 1_000 / DAY_S - DAYS) * DAY_S * 1_000).toISOString();
  const { data, error, isPending } = useQuery<Summary, ApiError>({
    queryKey: ['usage', by, from],
    queryFn: () =>
      callJson(`/api/query-history/summary?${new URLSearchParams({ by, bucket_s: String(DAY_S), from }).toString()}`),
  });
  return (
    <>
      <label>
        By
        <select value={by} onChange={({ target }) => setBy(target.value)}>
          <option value="username">user</option>
          <option value="resource_group">group</option>
        </select>
      </label>
      {error === null ? null : <Problem error={error} />}
      {isPending ? <p role="status">Loading …</p> : null}
      {data === undefined ? null : (
        <>
          {data.isCut ? <p role="status">There is more than is shown.</p> : null}
          <SmallTable
            label="Usage of the last 30 days"
            columns={['Day', by === 'username' ? 'User' : 'Group', 'Statements', 'Time', 'Read', 'Compute units']}
            rows={data.lines.map(({ bucket, value, count, durationMs, bytesScanned, cuConsumed }) => [
              bucket === null ? '' : new Date(bucket).toLocaleDateString(),
              value,
              printCount(count),
              printMs(durationMs),
              printBytes(bytesScanned),
              cuConsumed.toFixed(4),
            ])}
          />
        </>
      )}
    </>
  );
}
