import { useState, type ReactNode } from 'react';
import { ApiError, callJson } from '../api/call.ts';
import type { WhoamiEntry as Whoami } from '#coordinator/api/http/api-types.ts';
import { Problem } from '../app/problem.tsx';
import { ForOperators } from './for-operators.tsx';

type Route = { readonly group: string; readonly rule: number | null; readonly priority: number | null };

/** The rule that a statement would meet; for operators what is refused, and what is wrong with the workload file. */
export function WorkloadPage({ me }: { readonly me: Whoami }): ReactNode {
  const [user, setUser] = useState(me.username);
  const [source, setSource] = useState('');
  const [type, setType] = useState('select');
  const [found, show] = useState<Route | ApiError | null>(null);
  const ask = (): void => {
    const body = { user, source: source === '' ? null : source, query_type: type };
    callJson<Route>('/api/workload/route', { method: 'POST', body }).then(show, (thrown: unknown) =>
      show(thrown instanceof ApiError ? thrown : new ApiError(String(thrown), { code: 'INTERRUPTED', status: 0 })),
    );
  };
  return (
    <>
      <form
        className="bar filters"
        onSubmit={(event) => {
          event.preventDefault();
          ask();
        }}
      >
        <label>
          User
          <input value={user} onChange={({ target }) => setUser(target.value)} />
        </label>
        <label>
          Source
          <input value={source} onChange={({ target }) => setSource(target.value)} />
        </label>
        <label>
          Type
          <select value={type} onChange={({ target }) => setType(target.value)}>
            {['select', 'insert', 'update', 'delete', 'merge', 'ctas', 'ddl', 'maintenance', 'show', 'explain'].map(
              (one) => (
                <option key={one}>{one}</option>
              ),
            )}
          </select>
        </label>
        <button type="submit">Which rule</button>
      </form>
      {found instanceof ApiError ? <Problem error={found} /> : null}
      {found === null || found instanceof ApiError ? null : (
        <p role="status">
          Group {found.group}, {found.rule === null ? 'no rule matches' : `rule ${found.rule}`}
          {found.priority === null ? '' : `, priority ${found.priority}`}.
        </p>
      )}
      <h2>For operators</h2>
      <ForOperators />
    </>
  );
}
