import type { EditorView } from '@codemirror/view';
import { useRef, useState, type ReactNode } from 'react';
import { ApiError, call } from '../api/call.ts';
import { chosenText, Editor } from './editor.tsx';
import { ResultGrid, type Rows } from './result-grid.tsx';

type Run =
  | { readonly kind: 'none' }
  | { readonly kind: 'running'; readonly queryId: string; readonly abort: AbortController }
  | { readonly kind: 'rows'; readonly queryId: string; readonly rows: Rows }
  | { readonly kind: 'failed'; readonly queryId: string; readonly error: ApiError };

/** Ask: a text, its run, its rows. */
export function AskPage(): ReactNode {
  const editor = useRef<EditorView>(null);
  const [run, setRun] = useState<Run>({ kind: 'none' });
  const start = async (sql: string): Promise<void> => {
    if (sql.trim() === '') return;
    const [queryId, abort] = [crypto.randomUUID(), new AbortController()];
    setRun({ kind: 'running', queryId, abort });
    setRun(await runStatement(sql, queryId, abort.signal));
  };
  return (
    <div className="ask">
      <Editor
        initial=""
        onRun={(sql) => void start(sql)}
        onReady={(view) => {
          editor.current = view;
        }}
      />
      <div className="bar tools">
        <button
          type="button"
          className="primary"
          disabled={run.kind === 'running'}
          onClick={() => editor.current !== null && void start(chosenText(editor.current))}
        >
          Run
        </button>
        <button
          type="button"
          disabled={run.kind !== 'running'}
          onClick={() => run.kind === 'running' && cancel(run.queryId)}
        >
          Cancel
        </button>
        <Told run={run} />
      </div>
      {run.kind === 'rows' ? <ResultGrid result={run.rows} /> : null}
    </div>
  );
}

function Told({ run }: { readonly run: Run }): ReactNode {
  switch (run.kind) {
    case 'none':
      return <span className="quiet">Ctrl+Enter runs the selection, or everything</span>;
    case 'running':
      return <span role="status">Running …</span>;
    case 'rows':
      return <span role="status">{`${run.rows.row_count} rows in ${run.rows.elapsed_ms} ms`}</span>;
    case 'failed':
      return (
        <span role="alert">
          {run.error.code}: {run.error.message} <small className="quiet">query {run.queryId}</small>
        </span>
      );
  }
}

async function runStatement(sql: string, queryId: string, signal: AbortSignal): Promise<Run> {
  try {
    const headers = { 'x-skein-query-id': queryId, 'x-skein-source': 'console' };
    const response = await call('/api/query', { method: 'POST', body: { sql }, headers, signal });
    return { kind: 'rows', queryId, rows: (await response.json()) as Rows };
  } catch (thrown) {
    const error =
      thrown instanceof ApiError ? thrown : new ApiError(String(thrown), { code: 'INTERRUPTED', status: 0 });
    return { kind: 'failed', queryId, error };
  }
}

/** The statement's own request then answers that it was cancelled. */
const cancel = (queryId: string): void =>
  void call(`/api/query/${queryId}`, { method: 'DELETE' }).catch(() => undefined);
