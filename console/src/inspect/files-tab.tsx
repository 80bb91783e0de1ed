import type { ReactNode } from 'react';
import { Problem } from '../app/problem.tsx';
import { printBytes, printCount } from '../app/print-figures.ts';
import { SmallTable } from '../statement/statement-panel.tsx';
import { HIDDEN } from './hidden.tsx';
import type { ObjectPath } from './statements.ts';
import type { Files, Sum } from './table-answers.ts';
import { useObject } from './table-api.ts';
import { TILES_MAX, treemap } from './treemap.ts';

/** The files of the current snapshot: in all, by size, by partition. */
export function FilesTab({ path }: { readonly path: ObjectPath }): ReactNode {
  const { data, error, isPending } = useObject<Files>('tables', path, 'files');
  if (error !== null) return <Problem error={error} />;
  if (isPending) return <p role="status">Loading …</p>;
  if (data.hidden_by_policy) return <p>The files are {HIDDEN}.</p>;
  return (
    <>
      {data.is_whole ? null : (
        <p role="status" className="wrong">
          Too many files to count: this is what is known.
        </p>
      )}
      <SmallTable
        label="Files in all"
        columns={['', 'Files', 'Rows', 'Size']}
        rows={[
          sumRow('Data files', data.data),
          sumRow('Position deletes', data.position_deletes),
          sumRow('Equality deletes', data.equality_deletes),
          sumRow('Deletion vectors', data.deletion_vectors),
          manifestRow('Manifests of data', data.data_manifests),
          manifestRow('Manifests of deletes', data.delete_manifests),
        ]}
      />
      <h2>Sizes of data files</h2>
      <Sizes sizes={data.sizes} />
      {data.partition_fields.length === 0 ? null : <Partitions data={data} />}
    </>
  );
}

const sumRow = (name: string, sum: Sum | null): readonly string[] =>
  sum === null
    ? [name, 'not told', '', '']
    : [name, printCount(sum.files), printCount(sum.rows), printBytes(sum.bytes)];
const manifestRow = (name: string, sum: Files['data_manifests']): readonly string[] =>
  sum === null ? [name, 'not told', '', ''] : [name, printCount(sum.manifests), '', printBytes(sum.bytes)];

const belowText = (below: number | null, before: number | null | undefined): string =>
  below === null ? `${printBytes(before ?? 0)} and more` : `below ${printBytes(below)}`;

function Sizes({ sizes }: Pick<Files, 'sizes'>): ReactNode {
  const most = Math.max(1, ...sizes.map(({ files }) => files));
  return (
    <ol className="histogram" aria-label="Histogram of sizes">
      {sizes.map(({ below, files }, i) => (
        <li key={below ?? 'rest'}>
          <span>{belowText(below, sizes[i - 1]?.below)}</span>
          <meter min={0} max={most} value={files} aria-label={belowText(below, sizes[i - 1]?.below)} />
          <span className="number">{printCount(files)}</span>
        </li>
      ))}
    </ol>
  );
}

function Partitions({ data }: { readonly data: Files }): ReactNode {
  const { partitions, partition_fields: fields, other_partitions: others } = data;
  const shown = partitions.slice(0, TILES_MAX - 1);
  const restBytes = partitions.slice(shown.length).reduce((sum, { bytes }) => sum + bytes, 0) + (others?.bytes ?? 0);
  const tiles = treemap([...shown.map(({ bytes }) => bytes), restBytes], 2, 1);
  const nameOf = (index: number): string => {
    const partition = shown[index];
    if (partition === undefined) return 'the rest';
    return partition.values.map((value, i) => `${fields[i] ?? ''}=${value ?? 'NULL'}`).join(', ');
  };
  return (
    <>
      <h2>Partitions</h2>
      <svg
        viewBox="0 0 2000 1000"
        className="treemap"
        role="img"
        aria-label={`Partitions by size, the largest: ${nameOf(0)}`}
      >
        {tiles.map(({ index, x, y, width, height }) => (
          <g key={index}>
            <rect
              x={x * 1_000}
              y={y * 1_000}
              width={width * 1_000}
              height={height * 1_000}
              className={`shade-${index % 4}`}
            >
              <title>{`${nameOf(index)}: ${printBytes(shown[index]?.bytes ?? restBytes)}`}</title>
            </rect>
            {width > 0.2 && height > 0.05 ? (
              <text x={x * 1_000 + 12} y={y * 1_000 + 36}>
                {nameOf(index).slice(0, Math.floor(width * 55))}
              </text>
            ) : null}
          </g>
        ))}
      </svg>
      <SmallTable
        label="Partitions by size"
        columns={[...fields, 'Files', 'Rows', 'Size', 'Delete files']}
        rows={partitions.map(({ values, files, rows, bytes, delete_files: deletes }) => [
          ...values,
          printCount(files),
          printCount(rows),
          printBytes(bytes),
          printCount(deletes),
        ])}
      />
      {others === null || others.partitions === 0 ? null : (
        <p>
          And {printCount(others.partitions)} other partitions: {printCount(others.files)} files,{' '}
          {printCount(others.rows)} rows, {printBytes(others.bytes)}.
        </p>
      )}
    </>
  );
}
