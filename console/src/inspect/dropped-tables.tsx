import { useInfiniteQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { callJson, type ApiError } from '../api/call.ts';
import type { WhoamiEntry as Whoami } from '#coordinator/api/http/api-types.ts';
import { Problem } from '../app/problem.tsx';
import { printTime } from '../app/print-figures.ts';
import { ActionForm } from '../statement/action-form.tsx';
import { refusalOf } from './may.ts';
import { undropTable } from './statements.ts';

type Dropped = {
  readonly id: string;
  readonly schema: string;
  readonly name: string;
  readonly state: string;
  readonly dropped_at: string;
  readonly dropped_by: string;
  readonly expires_at: string;
  readonly error: string | null;
};
type Page = { readonly tables: readonly Dropped[]; readonly next: string | null };

/** The tables of a catalog that were dropped: by whom, until when they can be had back, and the way back. */
export function DroppedTables({ catalog, me }: { readonly catalog: string; readonly me: Whoami }): ReactNode {
  const [chosen, choose] = useState<Dropped | null>(null);
  const { data, error, isPending, hasNextPage, fetchNextPage, refetch } = useInfiniteQuery<Page, ApiError>({
    queryKey: ['dropped', catalog],
    initialPageParam: '',
    queryFn: ({ pageParam }) =>
      callJson<Page>(
        `/api/catalogs/${encodeURIComponent(catalog)}/dropped-tables${pageParam === '' ? '' : `?after=${encodeURIComponent(String(pageParam))}`}`,
      ),
    getNextPageParam: ({ next }) => next,
  });
  if (error !== null) return <Problem error={error} />;
  if (isPending) return <p role="status">Loading …</p>;
  const tables = data.pages.flatMap((page) => page.tables);
  return (
    <>
      {tables.length === 0 ? <p className="quiet">No table was dropped that could be had back.</p> : null}
      <div className="scroll" role="region" aria-label="Dropped tables" tabIndex={0} hidden={tables.length === 0}>
        <table>
          <thead>
            <tr>
              {['Table', 'State', 'Dropped by', 'Dropped', 'Until', ''].map((title) => (
                <th key={title} scope="col">
                  {title === '' ? <span className="hidden">Actions</span> : title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {tables.map((table) => (
              <tr key={table.id}>
                <td>
                  {table.schema}.{table.name}
                </td>
                <td>
                  {table.state} {table.error}
                </td>
                <td>{table.dropped_by}</td>
                <td>{printTime(table.dropped_at)}</td>
                <td>{printTime(table.expires_at)}</td>
                <td>
                  <button type="button" disabled={table.state !== 'dropped'} onClick={() => choose(table)}>
                    UNDROP
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {hasNextPage ? (
        <button type="button" onClick={() => void fetchNextPage()}>
          More
        </button>
      ) : null}
      {chosen === null ? null : (
        <ActionForm
          key={chosen.id}
          onDone={() => void refetch()}
          action={{
            title: `Bring ${chosen.schema}.${chosen.name} back`,
            fields: [{ name: 'AS', kind: 'text', optional: true, hint: 'Another name, where this one is taken' }],
            make: ({ AS = '' }) => undropTable({ catalog, schema: chosen.schema, name: chosen.name }, AS),
            refusal: refusalOf(me.actions, 'table.create'),
          }}
        />
      )}
    </>
  );
}
