import { useInfiniteQuery } from '@tanstack/react-query';
import { useRef, useState, type ReactNode } from 'react';
import { callJson, type ApiError } from '../api/call.ts';
import { printTime } from '../app/print-figures.ts';
import { Problem } from '../app/problem.tsx';

type Page = {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | null)[])[];
  readonly next: string | null;
};

type Props = {
  readonly kind: 'users' | 'service-accounts' | 'roles' | 'tokens' | 'webhooks' | 'webhook-deliveries';
  readonly label: string;
  readonly statuses?: readonly string[];
  /** Owner of tokens, webhook of deliveries. */
  readonly of?: string;
  /** Those alone who have a role or a privilege. */
  readonly holding?: Readonly<Record<string, string>>;
  /** Grows when the list has changed. */
  readonly version: number;
  readonly onChoose?: (name: string) => void;
};

const SEARCH_DELAY_MS = 250;

/** A list of SHOW, searched and paged by the server. */
export function PrincipalList({ kind, label, statuses, of, holding, version, onChoose }: Props): ReactNode {
  const [search, setSearch] = useState('');
  const [status, setStatus] = useState('');
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const { data, error, isPending, hasNextPage, fetchNextPage } = useInfiniteQuery<Page, ApiError>({
    queryKey: ['principals', kind, search, status, of, holding, version],
    initialPageParam: '',
    queryFn: ({ pageParam }) => {
      const given = { search, status, of: of ?? '', after: String(pageParam), ...holding };
      const asked = Object.entries(given).filter(([, value]) => value !== '');
      return callJson<Page>(`/api/principals/${kind}?${new URLSearchParams(asked).toString()}`);
    },
    getNextPageParam: ({ next }) => next,
    placeholderData: (before) => before,
  });
  const columns = data?.pages[0]?.columns ?? [];
  const rows = data?.pages.flatMap((page) => page.rows) ?? [];
  return (
    <>
      <form
        className="bar filters"
        role="search"
        aria-label={`Search ${label}`}
        onSubmit={(event) => event.preventDefault()}
      >
        {kind === 'webhook-deliveries' ? null : (
          <label>
            Search
            <input
              type="search"
              onChange={({ target }) => {
                clearTimeout(timer.current);
                timer.current = setTimeout(() => setSearch(target.value.trim()), SEARCH_DELAY_MS);
              }}
            />
          </label>
        )}
        {statuses === undefined ? null : (
          <label>
            Status
            <select value={status} onChange={({ target }) => setStatus(target.value)}>
              <option value="">any</option>
              {statuses.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          </label>
        )}
      </form>
      {error === null ? null : <Problem error={error} />}
      {isPending ? <p role="status">Loading …</p> : null}
      {data !== undefined && rows.length === 0 ? <p className="quiet">None.</p> : null}
      {rows.length === 0 ? null : (
        <Rows label={label} columns={columns} rows={rows} {...(onChoose === undefined ? {} : { onChoose })} />
      )}
      {hasNextPage ? (
        <button type="button" onClick={() => void fetchNextPage()}>
          More
        </button>
      ) : null}
    </>
  );
}

/** Moments are shown in the reader's zone, as everywhere. */
const timeOr = (column: string | undefined, value: string | null | undefined): string | null | undefined =>
  column?.endsWith('_at') === true && value != null && !Number.isNaN(Date.parse(value)) ? printTime(value) : value;

type RowsProps = Pick<Page, 'columns' | 'rows'> & {
  readonly label: string;
  readonly onChoose?: (name: string) => void;
};

function Rows({ label, columns, rows, onChoose }: RowsProps): ReactNode {
  return (
    <div className="scroll" role="region" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            <tr key={`${i} ${row[0] ?? ''}`}>
              {row.map((value, j) => (
                <td key={columns[j]} className="text">
                  {j === 0 && onChoose !== undefined ? (
                    <button type="button" className="link" onClick={() => onChoose(value ?? '')}>
                      {value}
                    </button>
                  ) : (
                    timeOr(columns[j], value)
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
