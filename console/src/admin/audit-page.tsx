import { useInfiniteQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useSearchParams } from 'wouter';
import { call, callJson, type ApiError } from '../api/call.ts';
import { FilterField } from '../app/filter-field.tsx';
import { Problem } from '../app/problem.tsx';
import { printTime } from '../app/print-figures.ts';

type Entry = {
  readonly id: string;
  readonly created_at: string;
  readonly event_type: string;
  readonly actor_id: string | null;
  readonly actor_name: string | null;
  readonly target_id: string | null;
  readonly target_name: string | null;
  readonly details: unknown;
};
type Page = { readonly entries: readonly Entry[]; readonly next: string | null };

const FILTERS = [
  ['event', 'Event (create_user, %role)', 'search'],
  ['actor', 'Actor', 'search'],
  ['target', 'Target', 'search'],
  ['from', 'From', 'datetime-local'],
  ['to', 'Before', 'datetime-local'],
] as const;

/** The filters of the address as the API takes them: a time of the reader's zone in UTC. */
function askedOf(search: URLSearchParams): URLSearchParams {
  const asked = new URLSearchParams();
  for (const [name, , type] of FILTERS) {
    const value = search.get(name) ?? '';
    if (value === '') continue;
    const time = type === 'datetime-local' ? new Date(value) : null;
    if (time === null) asked.set(name, value);
    else if (!Number.isNaN(time.getTime())) asked.set(name, time.toISOString());
  }
  return asked;
}

/** The audit log: filters are in the address, so that a link is a list. */
export function AuditPage(): ReactNode {
  const [search, setSearch] = useSearchParams();
  const [problem, complain] = useState('');
  const asked = askedOf(search);
  const { data, error, isPending, hasNextPage, fetchNextPage } = useInfiniteQuery<Page, ApiError>({
    queryKey: ['audit', asked.toString()],
    initialPageParam: '',
    queryFn: ({ pageParam }) => {
      const page = new URLSearchParams(asked);
      if (pageParam !== '') page.set('after', String(pageParam));
      return callJson(`/api/audit?${page.toString()}`);
    },
    getNextPageParam: ({ next }) => next,
    placeholderData: (before) => before,
  });
  const set = (name: string, value: string): void => {
    const next = new URLSearchParams(search);
    if (value === '') next.delete(name);
    else next.set(name, value);
    setSearch(next);
  };
  return (
    <>
      <form
        className="bar filters"
        role="search"
        aria-label="Filter the audit log"
        onSubmit={(event) => event.preventDefault()}
      >
        {FILTERS.map(([name, label, type]) => (
          <FilterField
            key={name}
            label={label}
            type={type}
            value={search.get(name) ?? ''}
            onSet={(value) => set(name, value)}
          />
        ))}
        <button
          type="button"
          onClick={() => void exportLines(asked).catch((thrown: unknown) => complain(String(thrown)))}
        >
          Export as JSON lines
        </button>
      </form>
      {problem === '' ? null : <p role="alert">{problem}</p>}
      {error === null ? null : <Problem error={error} />}
      {isPending ? <p role="status">Loading …</p> : null}
      {data === undefined ? null : <Entries entries={data.pages.flatMap(({ entries }) => entries)} />}
      {hasNextPage ? (
        <button type="button" onClick={() => void fetchNextPage()}>
          Older
        </button>
      ) : null}
    </>
  );
}

async function exportLines(asked: URLSearchParams): Promise<void> {
  const answer = await call(`/api/audit?${asked.toString()}&format=jsonl`);
  const link = document.createElement('a');
  link.href = URL.createObjectURL(await answer.blob());
  link.download = 'audit.jsonl';
  link.click();
  URL.revokeObjectURL(link.href);
}

function Entries({ entries }: { readonly entries: readonly Entry[] }): ReactNode {
  if (entries.length === 0) return <p className="quiet">No event is like this.</p>;
  return (
    <div className="scroll" role="region" aria-label="Audit log" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {['Time', 'Event', 'Actor', 'Target', 'Details'].map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <tr key={entry.id}>
              <td>{printTime(entry.created_at)}</td>
              <td>{entry.event_type}</td>
              <td title={entry.actor_id ?? ''}>{entry.actor_name ?? entry.actor_id ?? 'nobody'}</td>
              <td title={entry.target_id ?? ''}>{entry.target_name ?? entry.target_id ?? ''}</td>
              <td>
                <Tree value={entry.details} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A JSON value as a tree of lists; no text of it is markup. */
function Tree({ value }: { readonly value: unknown }): ReactNode {
  if (typeof value !== 'object' || value === null) return String(value);
  return (
    <ul className="json">
      {Object.entries(value).map(([name, part]) => (
        <li key={name}>
          {name}: <Tree value={part as unknown} />
        </li>
      ))}
    </ul>
  );
}
