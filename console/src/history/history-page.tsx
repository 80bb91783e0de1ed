import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { callJson, type ApiError } from '../api/call.ts';
import type { RecordEntry } from '#coordinator/api/http/api-types.ts';
import type { HistorySort } from '#coordinator/history/history-request.ts';
import { isLive } from '../api/history-record.ts';
import { FilterField } from '../app/filter-field.tsx';
import { Problem } from '../app/problem.tsx';
import { printBytes, printCount, printMs, printTime } from '../app/print-figures.ts';
import type { AskState } from '../ask/ask-state.ts';
import { spanOf } from './history-span.ts';
import { HistoryStrip } from './history-strip.tsx';

const PAGE = 50;
/** How often the first page is asked for again while something runs, and while nothing does. */
const [LIVE_MS, REST_MS] = [1_500, 10_000];
const STATUSES = ['all', 'queued', 'running', 'completed', 'failed', 'cancelled'];
const FILTERS = ['status', 'text', 'user_id', 'resource_group', 'min_duration_ms'] as const;
/** Members of the address that say what the list has. */
const ASKED = [...FILTERS, 'sort', 'from', 'to'] as const;
/** Filters that a browser keeps. */
const SAVED_MAX = 10;
const SAVED_KEY = 'skein-console filters';

/** The query history: filters are in the address, so that a link is a list. */
export function HistoryPage({ ask }: { readonly ask: AskState }): ReactNode {
  const [search, setSearch] = useSearchParams();
  const offset = Number(search.get('offset') ?? 0);
  const asked = new URLSearchParams({ limit: String(PAGE), offset: String(offset), fields: 'all' });
  copyGiven(search, asked, ASKED);
  const filters = new URLSearchParams();
  copyGiven(search, filters, FILTERS);
  const change = (changes: Readonly<Record<string, string>>): void =>
    setSearch((before) => {
      const next = new URLSearchParams(before);
      next.delete('offset');
      for (const [name, value] of Object.entries(changes)) {
        if (value === '') next.delete(name);
        else next.set(name, value);
      }
      return next;
    });
  const { data, error, isPending } = useQuery<readonly RecordEntry[], ApiError>({
    queryKey: ['history', asked.toString()],
    queryFn: () => callJson(`/api/query-history?${asked.toString()}`),
    placeholderData: (before) => before,
    refetchInterval: ({ state }) =>
      offset > 0 ? false : state.data?.some(({ status }) => isLive(status)) === true ? LIVE_MS : REST_MS,
  });
  const go = (to: number): void =>
    setSearch((before) => {
      const next = new URLSearchParams(before);
      next.set('offset', String(to));
      return next;
    });
  return (
    <div className="page">
      <h1>History</h1>
      <Filters key={ask.owner} owner={ask.owner} search={search} onSearch={setSearch} />
      <HistoryStrip
        filters={filters}
        span={spanOf(search)}
        onSpan={(span) =>
          change({
            from: span === null ? '' : new Date(span.fromMs).toISOString(),
            to: span === null ? '' : new Date(span.toMs).toISOString(),
          })
        }
      />
      {error === null ? null : <Problem error={error} />}
      {isPending ? <p role="status">Loading …</p> : null}
      {data?.length === 0 ? <p className="quiet">No statement is like this.</p> : null}
      {data !== undefined && data.length > 0 ? (
        <Records
          records={data}
          ask={ask}
          sort={search.get('sort') ?? DEFAULT_SORT}
          onSort={(sort) => change({ sort })}
        />
      ) : null}
      <p className="bar">
        <button type="button" disabled={offset === 0} onClick={() => go(Math.max(0, offset - PAGE))}>
          Newer
        </button>
        <button type="button" disabled={(data?.length ?? 0) < PAGE} onClick={() => go(offset + PAGE)}>
          Older
        </button>
      </p>
    </div>
  );
}

function copyGiven(from: URLSearchParams, to: URLSearchParams, names: readonly string[]): void {
  for (const name of names) {
    const value = from.get(name) ?? '';
    if (value !== '') to.set(name, value);
  }
}

type FiltersProps = {
  /** The user, whose filters are kept apart from those of others. */
  readonly owner: string;
  readonly search: URLSearchParams;
  readonly onSearch: (search: URLSearchParams) => void;
};

function Filters({ owner, search, onSearch }: FiltersProps): ReactNode {
  const [saved, setSaved] = useState<readonly string[]>(() => readSaved(owner));
  const set = (name: string, value: string): void => {
    const next = new URLSearchParams(search);
    next.delete('offset');
    if (value === '' || value === 'all') next.delete(name);
    else next.set(name, value);
    onSearch(next);
  };
  const field = (name: string, label: string, type: 'search' | 'number' = 'search'): ReactNode => (
    <FilterField label={label} type={type} value={search.get(name) ?? ''} onSet={(value) => set(name, value)} />
  );
  const save = (next: readonly string[]): void => {
    localStorage.setItem(`${SAVED_KEY} ${owner}`, JSON.stringify(next));
    setSaved(next);
  };
  const keep = (): void => {
    const kept = new URLSearchParams(search);
    kept.delete('offset');
    save([...new Set([kept.toString(), ...saved])].filter((one) => one !== '').slice(0, SAVED_MAX));
  };
  return (
    <form className="bar filters" role="search" onSubmit={(event) => event.preventDefault()}>
      <label>
        State
        <select value={search.get('status') ?? 'all'} onChange={({ target }) => set('status', target.value)}>
          {STATUSES.map((status) => (
            <option key={status}>{status}</option>
          ))}
        </select>
      </label>
      {field('text', 'Text')}
      {field('user_id', 'User')}
      {field('resource_group', 'Group')}
      {field('min_duration_ms', 'At least ms', 'number')}
      <button type="button" onClick={keep} disabled={search.toString() === ''}>
        Keep this filter
      </button>
      {saved.map((one) => (
        <span key={one} className="row">
          <Link href={`/history?${one}`}>{tellFilter(one)}</Link>
          <button
            type="button"
            aria-label={`Forget the filter ${tellFilter(one)}`}
            title="Forget this filter"
            onClick={() => save(saved.filter((other) => other !== one))}
          >
            ✕
          </button>
        </span>
      ))}
    </form>
  );
}

/** A kept filter in words. */
const tellFilter = (saved: string): string =>
  [...new URLSearchParams(saved)].map(([name, value]) => `${name.replaceAll('_', ' ')} ${value}`).join(', ');

function readSaved(owner: string): readonly string[] {
  try {
    const saved = JSON.parse(localStorage.getItem(`${SAVED_KEY} ${owner}`) ?? '[]') as unknown;
    return Array.isArray(saved) ? saved.filter((one) => typeof one === 'string') : [];
  } catch {
    return [];
  }
}

const DEFAULT_SORT = '-queued_at';
/** The columns, and by which member of a record the server sorts them. */
const COLUMNS: readonly (readonly [string, HistorySort | null])[] = [
  ['State', null],
  ['Statement', null],
  ['User', null],
  ['Kind', null],
  ['Group', null],
  ['Received', 'queued_at'],
  ['Time', 'duration_ms'],
  ['Rows', 'rows_produced'],
  ['Read', 'bytes_scanned'],
];

type RecordsProps = {
  readonly records: readonly RecordEntry[];
  readonly ask: AskState;
  readonly sort: string;
  readonly onSort: (sort: string) => void;
};

function Records({ records, ask, sort, onSort }: RecordsProps): ReactNode {
  const [, navigate] = useLocation();
  const open = async (sql: string): Promise<void> => {
    await ask.tabs.add(sql);
    navigate('/ask');
  };
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="Statements">
      <table>
        <thead>
          <tr>
            {COLUMNS.map(([title, member]) => (
              <Head key={title} title={title} member={member} sort={sort} onSort={onSort} />
            ))}
            <th scope="col">
              <span className="hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {records.map((record) => (
            <tr key={record.queryId}>
              <td className={`state ${record.status}`}>{record.status}</td>
              <td className="text">
                <Link href={`/queries/${record.queryId}`}>{record.sql.slice(0, 160) || '(not read yet)'}</Link>
              </td>
              <td>{record.username ?? record.userId}</td>
              <td>{record.queryType}</td>
              <td>{record.resourceGroup}</td>
              <td>{printTime(record.queuedAt)}</td>
              <td className="number">{record.durationMs === null ? '–' : printMs(record.durationMs)}</td>
              <td className="number">{printCount(record.rowsProduced)}</td>
              <td className="number">{printBytes(record.bytesScanned)}</td>
              <td>
                <button type="button" onClick={() => void open(record.sql)}>
                  Open as a tab
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

type HeadProps = {
  readonly title: string;
  readonly member: string | null;
  readonly sort: string;
  readonly onSort: (sort: string) => void;
};

/** A header that sorts on the server: the largest first, then the smallest. */
function Head({ title, member, sort, onSort }: HeadProps): ReactNode {
  if (member === null) return <th scope="col">{title}</th>;
  const isDown = sort === `-${member}`;
  const order = isDown ? 'descending' : sort === member ? 'ascending' : 'none';
  return (
    <th scope="col" aria-sort={order}>
      <button type="button" className="link" onClick={() => onSort(isDown ? member : `-${member}`)}>
        {title}
        <span aria-hidden="true">{order === 'none' ? '' : isDown ? ' ▼' : ' ▲'}</span>
      </button>
    </th>
  );
}
