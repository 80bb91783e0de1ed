import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { ApiError } from '../api/call.ts';
import { Problem } from '../app/problem.tsx';
import { cellText } from '../statement/cell-text.ts';
import type { StatementAnswer } from '../statement/made-statement.ts';
import { runStatement } from '../statement/run-statement.ts';
import { showPolicies, type PolicyKind, type PolicyPlace } from './statements.ts';

type Props = { readonly kind: PolicyKind; readonly onChoose: (place: PolicyPlace) => void };

/** The policies of a kind, of which one is chosen by its name. */
export function PolicyList({ kind, onChoose }: Props): ReactNode {
  const made = showPolicies(kind);
  const { data, error, isPending } = useQuery<StatementAnswer, ApiError>({
    queryKey: ['statement', made.sql],
    queryFn: ({ signal }) => runStatement(made, { signal }),
    staleTime: 0,
    gcTime: 0,
  });
  return (
    <>
      <pre aria-label="Statement" tabIndex={0}>
        {made.sql}
      </pre>
      {isPending ? <p role="status">Running …</p> : null}
      {error === null ? null : <Problem error={error} />}
      {data?.rows.length === 0 ? <p className="quiet">None.</p> : null}
      {data === undefined || data.rows.length === 0 ? null : <Rows answer={data} onChoose={onChoose} />}
    </>
  );
}

type RowsProps = { readonly answer: StatementAnswer; readonly onChoose: Props['onChoose'] };

function Rows({ answer: { columns, rows }, onChoose }: RowsProps): ReactNode {
  const cell = (row: StatementAnswer['rows'][number], column: string): string => cellText(row[columns.indexOf(column)]);
  return (
    <div className="scroll" role="region" aria-label="Policies" tabIndex={0}>
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
          {rows.map((row) => {
            const [catalog, schema, policy] = [cell(row, 'catalog_name'), cell(row, 'schema_name'), cell(row, 'name')];
            return (
              <tr key={JSON.stringify([catalog, schema, policy])}>
                {columns.map((column) => (
                  <td key={column} className="text">
                    {column === 'name' ? (
                      <button type="button" className="link" onClick={() => onChoose({ catalog, schema, policy })}>
                        {policy}
                      </button>
                    ) : (
                      cell(row, column)
                    )}
                  </td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
