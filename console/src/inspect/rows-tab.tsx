import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ApiError } from '../api/call.ts';
import { Problem } from '../app/problem.tsx';
import { cellText } from '../statement/cell-text.ts';
import type { MadeStatement, StatementAnswer } from '../statement/made-statement.ts';
import { runStatement } from '../statement/run-statement.ts';
import { SmallTable } from '../statement/statement-panel.tsx';

type Props = {
  readonly made: MadeStatement;
  readonly label: string;
  /** The answer is one text. */
  readonly isText?: boolean;
};

/** The answer to a statement that the page runs as the reader's own. */
export function RowsTab({ made, label, isText = false }: Props): ReactNode {
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
      {data === undefined ? null : isText ? (
        <pre aria-label={label} tabIndex={0}>
          {data.rows.map((row) => cellText(row[0])).join('\n')}
        </pre>
      ) : (
        <SmallTable label={label} columns={data.columns} rows={data.rows} />
      )}
    </>
  );
}
