import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { callJson, type ApiError } from '../api/call.ts';
import { Problem } from '../app/problem.tsx';
import { printBytes, printCount } from '../app/print-figures.ts';
import { SmallTable } from '../statement/statement-panel.tsx';
import { apiPath } from './catalog-place.ts';
import { HIDDEN } from './hidden.tsx';
import type { ObjectPath } from './statements.ts';
import type { Changes, Difference, Snapshot } from './table-answers.ts';

type Props = { readonly path: ObjectPath; readonly from: string; readonly snapshots: readonly Snapshot[] };

/** How another snapshot differs from the chosen one. */
export function CompareSnapshots({ path, from, snapshots }: Props): ReactNode {
  const others = snapshots.filter(({ snapshot_id: id }) => id !== from);
  const [to, choose] = useState('');
  if (others.length === 0) return null;
  return (
    <>
      <label>
        Compare with
        <select value={to} onChange={({ target }) => choose(target.value)}>
          <option value="" />
          {others.map(({ snapshot_id: id, committed_at: time }) => (
            <option key={id} value={id}>
              {id} of {new Date(time).toLocaleString()}
            </option>
          ))}
        </select>
      </label>
      {to === '' ? null : <Comparison path={path} from={from} to={to} />}
    </>
  );
}

function Comparison({
  path,
  from,
  to,
}: {
  readonly path: ObjectPath;
  readonly from: string;
  readonly to: string;
}): ReactNode {
  const { data, error, isPending } = useQuery<Changes, ApiError>({
    queryKey: ['changes', path, from, to],
    queryFn: () =>
      callJson(
        `${apiPath(path.catalog, path.schema)}/tables/${encodeURIComponent(path.name)}/changes?from=${from}&to=${to}`,
      ),
  });
  if (error !== null) return <Problem error={error} />;
  if (isPending) return <p role="status">Comparing …</p>;
  const { changes, schema } = data;
  const figures = [
    ['Rows', differenceOf(data.rows, printCount)],
    ['Files', differenceOf(data.files, printCount)],
    ['Size', differenceOf(data.bytes, printBytes)],
  ];
  const sum = ({ files, rows, bytes }: { files: number; rows: number; bytes: number }): string =>
    `${printCount(files)} files, ${printCount(rows)} rows, ${printBytes(bytes)}`;
  return (
    <section aria-label="Comparison">
      <SmallTable label="Figures" columns={['', 'from → to']} rows={figures} />
      {schema.length === 0 ? (
        <p>The columns are the same.</p>
      ) : (
        <SmallTable
          label="Columns that differ"
          columns={['Change', 'Column', 'Before', 'After']}
          rows={schema.map(({ change, column, before, after }) => [change, column, before ?? '', after ?? ''])}
        />
      )}
      {changes === null ? (
        <p className="quiet">
          {data.hidden_by_policy
            ? `The files are ${HIDDEN}.`
            : 'The files are not compared: there are too many, or you may not read the table.'}
        </p>
      ) : (
        <>
          <p>
            Added: {sum(changes.added)}. Removed: {sum(changes.removed)}.
          </p>
          <SmallTable
            label="Partitions that differ"
            columns={[...changes.partition_fields, 'Added', 'Removed']}
            rows={changes.partitions.map(({ values, added, removed }) => [...values, sum(added), sum(removed)])}
          />
          {changes.other_partitions > 0 ? <p>And {printCount(changes.other_partitions)} other partitions.</p> : null}
        </>
      )}
    </section>
  );
}

function differenceOf(difference: Difference | null, print: (value: number) => string): string {
  if (difference === null) return HIDDEN;
  const side = (value: number | null): string => (value === null ? 'not told' : print(value));
  return `${side(difference.before)} → ${side(difference.after)}`;
}
