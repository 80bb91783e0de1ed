import { useState, type ReactNode } from 'react';
import { ApiError, call } from '../api/call.ts';
import { Problem } from '../app/problem.tsx';
import type { StatementAnswer } from '../statement/made-statement.ts';
import { runStatement } from '../statement/run-statement.ts';
import { SmallTable } from '../statement/statement-panel.tsx';
import { firstRows, takeRole } from './statements.ts';

type Seen = { readonly role: string; readonly as: StatementAnswer; readonly all: StatementAnswer };
type State =
  | { readonly kind: 'rest' }
  | { readonly kind: 'running' }
  | { readonly kind: 'seen'; readonly seen: Seen }
  | { readonly kind: 'failed'; readonly error: ApiError };

/** Everybody has it. */
const PUBLIC = 'public';

/** The rows of a table as policies show them to one of the reader's own roles, beside those of all of them. */
export function AsRole({ roles }: { readonly roles: readonly string[] }): ReactNode {
  const own = [...new Set([...roles, PUBLIC])];
  const [table, setTable] = useState('');
  const [role, setRole] = useState(own[0] ?? PUBLIC);
  const [state, setState] = useState<State>({ kind: 'rest' });
  const show = (): void => {
    setState({ kind: 'running' });
    rowsAs(role, table).then(
      (seen) => setState({ kind: 'seen', seen }),
      (thrown: unknown) => setState({ kind: 'failed', error: asApiError(thrown) }),
    );
  };
  return (
    <section className="form" aria-label="As this role">
      <h3>As this role</h3>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (table !== '') show();
        }}
      >
        <label>
          TABLE
          <input autoComplete="off" value={table} onChange={({ target }) => setTable(target.value)} />
          <small className="quiet">catalog.schema.table; a part with a dot in double quotes</small>
        </label>
        <label>
          ROLE
          <select value={role} onChange={({ target }) => setRole(target.value)}>
            {own.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
          <small className="quiet">Your own: nobody sees rows as a role that he has not</small>
        </label>
      </form>
      <pre aria-label="Statement" tabIndex={0}>
        {table === '' ? '…' : `${takeRole(role).sql};\n${firstRows(table).sql};`}
      </pre>
      <p className="bar">
        <button type="button" className="primary" disabled={table === '' || state.kind === 'running'} onClick={show}>
          Show
        </button>
        <span role="status" className="quiet">
          {state.kind === 'running' ? 'Running …' : ''}
        </span>
      </p>
      {state.kind === 'failed' ? <Problem error={state.error} /> : null}
      {state.kind === 'seen' ? <Rows seen={state.seen} /> : null}
    </section>
  );
}

function Rows({ seen: { role, as, all } }: { readonly seen: Seen }): ReactNode {
  return (
    <>
      <h4>
        As {role}: {as.row_count} rows
      </h4>
      <SmallTable label={`Rows as ${role}`} columns={as.columns} rows={as.rows} />
      <h4>With all your roles: {all.row_count} rows</h4>
      <SmallTable label="Rows with all roles" columns={all.columns} rows={all.rows} />
    </>
  );
}

/** Both answers, the first in a session of its own that ends. @throws ApiError */
async function rowsAs(role: string, table: string): Promise<Seen> {
  const session = crypto.randomUUID();
  try {
    await runStatement(takeRole(role), { session });
    const as = await runStatement(firstRows(table), { session });
    return { role, as, all: await runStatement(firstRows(table)) };
  } finally {
    await call('/api/session', { method: 'DELETE', headers: { 'x-skein-session': session } }).catch(() => undefined);
  }
}

const asApiError = (thrown: unknown): ApiError =>
  thrown instanceof ApiError ? thrown : new ApiError(String(thrown), { code: 'INTERRUPTED', status: 0 });
