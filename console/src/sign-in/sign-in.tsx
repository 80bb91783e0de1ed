import { useState, type FormEvent, type ReactNode } from 'react';
import { ApiError, call } from '../api/call.ts';
import { LeaderLink } from '../app/leader-link.tsx';

type Props = {
  readonly onSignedIn: () => void;
  readonly problem?: ApiError | string | undefined;
  /** The page behind it must not go: there is work on it. */
  readonly keepsPage?: boolean;
};

/** Leads to the sign-in page of the catalog, and takes the operator's token. */
export function SignIn({ onSignedIn, problem, keepsPage = false }: Props): ReactNode {
  const isAnswer = problem instanceof ApiError;
  const [failure] = useState(takeFailure);
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const fields = Object.fromEntries(new FormData(event.currentTarget));
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
  const told = error ?? failure ?? (isAnswer ? problem.message : problem);
  const { pathname, search, hash } = globalThis.location;
  // The text behind # does not come back: a page that has one stays, as one with work on it does.
  const isElsewhere = keepsPage || hash !== '';
  const back = isElsewhere ? DONE_PAGE : `${pathname}${search}`;
  return (
    <section className="sign-in" aria-label="Sign in">
      <div className="card">
        <h1>Skein</h1>
        {told === undefined ? null : <p role="alert">{told}</p>}
        {isAnswer ? <LeaderLink error={problem} /> : null}
        <a
          className="primary"
          href={`/console/sign-in?back=${encodeURIComponent(back)}`}
          {...(isElsewhere ? { target: '_blank', rel: 'noreferrer' } : {})}
        >
          Sign in
        </a>
        {isElsewhere ? <p className="quiet">It opens beside this page, which then goes on.</p> : null}
        <details>
          <summary>For operators</summary>
          <form onSubmit={(event) => void submit(event)} aria-label="Sign in by a token">
            <p className="quiet">
              <code>skein console</code> prints a link that signs in, <code>skein token</code> a token.
            </p>
            <label>
              Token
              <input name="token" type="password" autoComplete="off" required />
            </label>
            <button type="submit" disabled={isBusy}>
              Sign in by the token
            </button>
          </form>
        </details>
      </div>
    </section>
  );
}

/** The page to which a sign-in in a window of its own comes back. */
export const DONE_PAGE = '/console/done';

/** The page of that window. */
export function SignedIn(): ReactNode {
  return (
    <section className="sign-in" aria-label="Signed in">
      <div className="card">
        <h1>Skein</h1>
        <p role="status">You are signed in. Close this window, and go on in the one that you have come from.</p>
        <a href="/console/ask">Or go on here</a>
      </div>
    </section>
  );
}

const FAILURES: ReadonlyMap<string, string> = new Map([
  ['denied', 'The sign-in was refused.'],
  ['expired', 'The sign-in took too long, or was begun in another browser. Try again.'],
  ['unavailable', 'The catalog does not answer, or too many sign in. Try again in a while.'],
]);

/** Why the server sent the browser back without a session, out of the address. */
function takeFailure(): string | undefined {
  const [, why = ''] = /^#sign-in=(\w+)$/.exec(globalThis.location.hash) ?? [];
  if (why !== '') history.replaceState(null, '', globalThis.location.pathname);
  return FAILURES.get(why);
}
