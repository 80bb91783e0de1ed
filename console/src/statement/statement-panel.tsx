import { useEffect, useId, useState, type ReactNode } from 'react';
import { ApiError, call, callJson } from '../api/call.ts';
import type { QueryStateEntry as QueryState } from '#coordinator/api/http/api-types.ts';
import { CopyButton, copyText } from '../app/copy-button.tsx';
import { tellChange } from '../catalog/catalog-changes.ts';
import { Problem } from '../app/problem.tsx';
import { printMs } from '../app/print-figures.ts';
import { cellText, shownText } from './cell-text.ts';
import type { MadeStatement, StatementAnswer } from './made-statement.ts';
import { runStatement } from './run-statement.ts';

type Props = {
  /** Null: a field is not filled in yet. */
  readonly made: MadeStatement | null;
  /** Called when it has run. */
  readonly onDone?: (answer: StatementAnswer) => void;
  /** The object that it takes away: its name has to be typed first. */
  readonly danger?: string;
  readonly label?: string;
  /** Why the reader may not run it. */
  readonly refusal?: string | undefined;
};

type State =
  | { readonly kind: 'rest' }
  | { readonly kind: 'running'; readonly queryId: string }
  | { readonly kind: 'done'; readonly answer: StatementAnswer }
  | { readonly kind: 'failed'; readonly error: ApiError };

/** A statement as it grows from a form, with the buttons that copy and run it. */
export function StatementPanel({ made, onDone, danger, label = 'Run', refusal }: Props): ReactNode {
  const [state, setState] = useState<State>({ kind: 'rest' });
  const [typed, type] = useState('');
  const [told, tell] = useState('');
  const id = useId();
  const isSure = danger === undefined || typed === danger;
  const run = async (): Promise<void> => {
    if (made === null) return;
    const queryId = crypto.randomUUID();
    setState({ kind: 'running', queryId });
    try {
      const answer = await runStatement(made, { queryId });
      setState({ kind: 'done', answer });
      type('');
      tellChange(made.sql);
      onDone?.(answer);
    } catch (error) {
      const failure =
        error instanceof ApiError ? error : new ApiError(String(error), { code: 'INTERRUPTED', status: 0 });
      setState({ kind: 'failed', error: failure });
    }
  };
  const copy = (): void => void copyText(made?.sql ?? '').then(tell);
  return (
    <div className="statement">
      <pre aria-label="Statement" tabIndex={0}>
        {made?.sql ?? '…'}
      </pre>
      {danger === undefined ? null : (
        <label htmlFor={id}>
          Type the name {danger} to go on
          <input id={id} autoComplete="off" value={typed} onChange={({ target }) => type(target.value)} />
        </label>
      )}
      <p className="bar">
        <button
          type="button"
          className={danger === undefined ? 'primary' : 'danger'}
          disabled={made === null || !isSure || state.kind === 'running' || refusal !== undefined}
          onClick={() => void run()}
        >
          {label}
        </button>
        <button type="button" disabled={made === null} onClick={copy}>
          Copy as SQL
        </button>
        <span role="status" className="quiet">
          {state.kind === 'running' ? <Progress queryId={state.queryId} /> : told}
        </span>
        {state.kind === 'running' ? (
          <button
            type="button"
            onClick={() => void call(`/api/query/${state.queryId}`, { method: 'DELETE' }).catch(() => undefined)}
          >
            Cancel
          </button>
        ) : null}
      </p>
      {refusal === undefined ? null : <p className="quiet">{refusal}</p>}
      {state.kind === 'failed' ? <Problem error={state.error} /> : null}
      {state.kind === 'done' ? <Answer answer={state.answer} /> : null}
    </div>
  );
}

/** How often a statement that runs is asked how far it is. */
const PROGRESS_MS = 600;

function Progress({ queryId }: { readonly queryId: string }): ReactNode {
  const [now, setNow] = useState<QueryState | null>(null);
  useEffect(() => {
    const timer = setInterval(() => {
      callJson<QueryState>(`/api/query/${queryId}`).then(setNow, () => undefined);
    }, PROGRESS_MS);
    return () => clearInterval(timer);
  }, [queryId]);
  if (now === null) return 'Running …';
  const { tasks, tasks_done: done, rows_produced: rows } = now.progress;
  return `${now.state}${now.reason === null ? '' : `: ${now.reason}`}, ${done} of ${tasks} tasks, ${rows} rows, ${printMs(now.elapsed_ms)}`;
}

/** Rows of an answer that are shown; a secret in one of them is there as long as the panel is. */
const SHOWN_MAX = 100;

/** Columns of an answer that nobody is told again. */
const SHOWN_ONCE = /(?:^|_)(?:token|secret|url)$/;

function Answer({ answer: { columns, rows, elapsed_ms: ms } }: { readonly answer: StatementAnswer }): ReactNode {
  return (
    <div role="status">
      <p className="quiet">Done in {printMs(ms)}</p>
      <SmallTable label="Answer" columns={columns} rows={rows.slice(0, SHOWN_MAX)} />
      {rows.length === 1
        ? columns.map((name, i) =>
            SHOWN_ONCE.test(name) ? (
              <p key={name} className="bar">
                <CopyButton label={`Copy ${name}`} text={cellText(rows[0]?.[i])} />
              </p>
            ) : null,
          )
        : null}
    </div>
  );
}

type TableProps = {
  readonly label: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
};

/** A few rows as a table. */
export function SmallTable({ label, columns, rows }: TableProps): ReactNode {
  return (
    <div className="scroll" role="region" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map((name, i) => (
              <th key={`${i} ${name}`} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            <tr key={i}>
              {row.map((value, j) => (
                <td key={j} className="text">
                  {shownText(value)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
