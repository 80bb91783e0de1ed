import { useInfiniteQuery } from '@tanstack/react-query';
import { useMemo, useState, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { callJson, type ApiError } from '../api/call.ts';
import { Problem } from '../app/problem.tsx';
import { printBytes, printCount, printTime } from '../app/print-figures.ts';
import type { AskState } from '../ask/ask-state.ts';
import { Actions, type Action } from '../statement/action-form.tsx';
import { apiPath } from './catalog-place.ts';
import { CompareSnapshots } from './compare-snapshots.tsx';
import { HIDDEN } from './hidden.tsx';
import { graphOf } from './graph-of.ts';
import { LanesOf } from './lanes.tsx';
import { refusalOf } from './may.ts';
import { createRef, dropRef, queryAsOf, rollBack, type ObjectPath } from './statements.ts';
import type { Details, Snapshot, SnapshotsPage } from './table-answers.ts';

type Props = {
  readonly path: ObjectPath;
  readonly ask: AskState;
  readonly details: Details;
  readonly onChanged: () => void;
};

/** The snapshots, the newest first, with branches and tags as lanes; two can be compared, and one acted on. */
export function HistoryTab({ path, ask, details, onChanged }: Props): ReactNode {
  const [isFolded, fold] = useState(details.snapshots > 100);
  const [chosen, choose] = useState<string | null>(details.current_snapshot_id);
  const { data, error, isPending, hasNextPage, fetchNextPage, refetch } = useSnapshots(path, isFolded);
  const [, navigate] = useLocation();
  if (error !== null) return <Problem error={error} />;
  if (isPending) return <p role="status">Loading …</p>;
  const [first] = data.pages;
  const snapshots = data.pages.flatMap((page) => page.snapshots);
  if (first === undefined || snapshots.length === 0) return <p className="quiet">The table has no snapshot yet.</p>;
  const query = async (id: string): Promise<void> => {
    await ask.tabs.add(queryAsOf(path, id));
    navigate('/ask');
  };
  return (
    <>
      <p className="bar">
        <label className="flag">
          <input type="checkbox" checked={isFolded} onChange={({ target }) => fold(target.checked)} />
          Fold what has no name
        </label>
        <span className="quiet">
          {printCount(first.total)} snapshots, {printCount(first.refs_total)} branches and tags
        </span>
      </p>
      <Snapshots
        snapshots={snapshots}
        refs={first.refs}
        isHidden={first.hidden_by_policy}
        current={details.current_snapshot_id}
        chosen={chosen}
        onChoose={choose}
      />
      {hasNextPage ? (
        <button type="button" onClick={() => void fetchNextPage()}>
          Older
        </button>
      ) : null}
      {chosen === null ? null : (
        <section aria-label="The chosen snapshot">
          <h2>Snapshot {chosen}</h2>
          <button type="button" onClick={() => void query(chosen)}>
            Query as of
          </button>
          <Actions
            key={chosen}
            actions={snapshotActions(path, details, chosen, first.refs)}
            onDone={() => {
              onChanged();
              void refetch();
            }}
          />
          <CompareSnapshots key={`compare ${chosen}`} path={path} from={chosen} snapshots={snapshots} />
        </section>
      )}
    </>
  );
}

function snapshotActions(
  path: ObjectPath,
  details: Details,
  id: string,
  refs: SnapshotsPage['refs'],
): readonly Action[] {
  const refusal = refusalOf(details.actions, 'table.commit');
  const named = refs.filter(({ snapshot_id: at, name }) => at === id && name !== 'main');
  const create = (kind: 'TAG' | 'BRANCH'): Action => ({
    title: kind === 'TAG' ? 'Tag' : 'Branch',
    fields: [
      { name: kind, kind: 'text' },
      { name: 'RETAIN DAYS', kind: 'number', optional: true },
    ],
    make: (values) => createRef(kind, path, values[kind] ?? '', id, values['RETAIN DAYS'] ?? ''),
    refusal,
  });
  return [
    create('TAG'),
    create('BRANCH'),
    { title: 'Roll back', fields: [], make: () => rollBack(path, id), danger: path.name, refusal },
    ...named.map(({ name, type }): Action => ({
      title: `Drop ${type} ${name}`,
      fields: [],
      make: () => dropRef(type === 'tag' ? 'TAG' : 'BRANCH', path, name),
      danger: name,
      refusal,
    })),
  ];
}

type SnapshotsProps = {
  readonly snapshots: readonly Snapshot[];
  readonly refs: SnapshotsPage['refs'];
  readonly isHidden: boolean;
  readonly current: string | null;
  readonly chosen: string | null;
  readonly onChoose: (id: string) => void;
};

function Snapshots({ snapshots, refs, isHidden, current, chosen, onChoose }: SnapshotsProps): ReactNode {
  const graph = useMemo(() => graphOf(snapshots), [snapshots]);
  const change = (plus: number | null, minus: number | null, print: (value: number) => string): string =>
    isHidden
      ? HIDDEN
      : [plus === null ? '' : `+${print(plus)}`, minus === null ? '' : `−${print(minus)}`].join(' ').trim();
  return (
    <div className="scroll history" role="region" aria-label="Snapshots" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {['Graph', 'Committed', 'Operation', 'Rows', 'Files', 'Size', 'Names', 'Snapshot'].map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {snapshots.map((one, i) => {
            const id = one.snapshot_id;
            const names = refs.filter(({ snapshot_id: at }) => at === id);
            return (
              <tr key={id} aria-selected={id === chosen} className={id === chosen ? 'chosen' : ''}>
                <td className="graph-cell">
                  <LanesOf own={one} lanes={graph[i] ?? []} />
                </td>
                <td>{printTime(one.committed_at)}</td>
                <td>
                  {one.operation ?? 'not told'}
                  {one.folded > 0 ? <span className="quiet"> and {printCount(one.folded)} before it</span> : null}
                </td>
                <td className="number">{change(one.added_rows, one.removed_rows, printCount)}</td>
                <td className="number">{change(one.added_files, one.removed_files, printCount)}</td>
                <td className="number">{change(one.added_bytes, one.removed_bytes, printBytes)}</td>
                <td>
                  {id === current ? <span className="badge">current</span> : null}
                  {names.map(({ name, type }) => (
                    <span key={`${type} ${name}`} className="badge">
                      {type} {name}
                    </span>
                  ))}
                </td>
                <td>
                  <button type="button" className="link" onClick={() => onChoose(id)}>
                    {id}
                  </button>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function useSnapshots(path: Props['path'], isFolded: boolean) {
  return useInfiniteQuery<SnapshotsPage, ApiError>({
    queryKey: ['object', path.catalog, path.schema, path.name, 'snapshots', isFolded],
    initialPageParam: '',
    queryFn: ({ pageParam }) => {
      const query = new URLSearchParams({
        fold: String(isFolded),
        ...(pageParam === '' ? {} : { page_token: String(pageParam) }),
      });
      return callJson(
        `${apiPath(path.catalog, path.schema)}/tables/${encodeURIComponent(path.name)}/snapshots?${query.toString()}`,
      );
    },
    getNextPageParam: ({ next_page_token: next }) => next,
  });
}
