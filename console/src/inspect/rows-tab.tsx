import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ApiError } from '../api/call.ts';
import { Problem } from '../app/problem.tsx';
import { cellText, shownText } from '../statement/cell-text.ts';
import type { MadeStatement, StatementAnswer } from '../statement/made-statement.ts';
import { runStatement } from '../statement/run-statement.ts';
import { SmallTable } from '../statement/statement-panel.tsx';

type Props = {
  readonly made: MadeStatement;
  readonly label: string;
  /** The answer is one text, or one row of many columns, which stand below each other; by default it is a table. */
  readonly as?: 'table' | 'text' | 'record';
};

/** The answer to a statement that the page runs as the reader's own. */
export function RowsTab({ made, label, as = 'table' }: Props): ReactNode {
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
      {data === undefined ? null : <Shown data={data} label={label} as={as} />}
    </>
  );
}

type ShownProps = { readonly data: StatementAnswer; readonly label: string; readonly as: 'table' | 'text' | 'record' };

function Shown({ data: { columns, rows }, label, as }: ShownProps): ReactNode {
  if (as === 'table') return <SmallTable label={label} columns={columns} rows={rows} />;
  if (as === 'text') {
    return (
      <pre aria-label={label} tabIndex={0}>
        {rows.map((row) => cellText(row[0])).join('\n')}
      </pre>
    );
  }
  return (
    <dl className="facts" role="region" aria-label={label}>
      {columns.map((name, i) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{shownText(rows[0]?.[i])}</dd>
        </div>
      ))}
    </dl>
  );
}
