import { useState, type FormEvent, type ReactNode } from 'react';
import { ApiError, call } from '../api/call.ts';

type Props = { readonly onSignedIn: () => void; readonly problem?: string | undefined };

/** Signs in by a user and a password, or by a token. */
export function SignIn({ onSignedIn, problem }: Props): ReactNode {
  const [isToken, setToken] = useState(false);
  const [error, setError] = useState(problem);
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const fields = Object.fromEntries([...new FormData(event.currentTarget)].filter(([, value]) => value !== ''));
    setBusy(true);
    try {
      await call('/api/console/session', { method: 'POST', body: fields });
      onSignedIn();
    } catch (thrown) {
      setError(thrown instanceof ApiError ? thrown.message : String(thrown));
    } finally {
      setBusy(false);
    }
  };
  return (
    <div className="sign-in">
      <form onSubmit={(event) => void submit(event)} aria-label="Sign in">
        <h1>Skein</h1>
        {error === undefined ? null : <p role="alert">{error}</p>}
        {isToken ? (
          <label>
            Token
            <input name="token" type="password" autoComplete="off" required autoFocus />
          </label>
        ) : (
          <>
            <label>
              User
              <input name="username" autoComplete="username" required autoFocus />
            </label>
            <label>
              Password
              <input name="password" type="password" autoComplete="current-password" required />
            </label>
            <label>
              Tenant <span className="quiet">(only where there are several)</span>
              <input name="tenant" autoComplete="organization" />
            </label>
          </>
        )}
        <button type="submit" className="primary" disabled={isBusy}>
          Sign in
        </button>
        <button type="button" className="link" onClick={() => setToken(!isToken)}>
          {isToken ? 'Use a user and a password' : 'Paste a token'}
        </button>
      </form>
    </div>
  );
}
