import { useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useMemo, useState, type ReactNode } from 'react';
import { Link, Redirect, Route, Router, Switch, useLocation } from 'wouter';
import { AskPage } from '../ask/ask-page.tsx';
import { AskState } from '../ask/ask-state.ts';
import { call, SIGNED_OUT } from '../api/call.ts';
import type { WhoamiEntry } from '#coordinator/api/http/api-types.ts';
import { useWhoami } from '../api/whoami.ts';
import { DONE_PAGE, SignedIn, SignIn } from '../sign-in/sign-in.tsx';
import { PageBoundary } from './page-boundary.tsx';
import { Palette, type Command } from './palette.tsx';

const PAGES = [
  ['/ask', 'Ask'],
  ['/history', 'History'],
  ['/catalog', 'Catalog'],
  ['/admin', 'Administer'],
  ['/cluster', 'Cluster'],
] as const;

const HistoryPage = lazy(() => import('../history/history-page.tsx').then((m) => ({ default: m.HistoryPage })));
const QueryPage = lazy(() => import('../query/query-page.tsx').then((m) => ({ default: m.QueryPage })));
const CatalogPage = lazy(() => import('../inspect/catalog-page.tsx').then((m) => ({ default: m.CatalogPage })));
const AdminPage = lazy(() => import('../admin/admin-page.tsx').then((m) => ({ default: m.AdminPage })));
const ClusterPage = lazy(() => import('../cluster/cluster-page.tsx').then((m) => ({ default: m.ClusterPage })));

/** The console: who is not signed in sees the form, over whatever is open, so that no text is lost. */
export function App(): ReactNode {
  const { data: me, isPending, error, refetch } = useWhoami();
  const client = useQueryClient();
  const [isOut, setOut] = useState(false);
  useEffect(() => {
    const onOut = (): void => setOut(true);
    addEventListener(SIGNED_OUT, onOut);
    return () => removeEventListener(SIGNED_OUT, onOut);
  }, []);
  // Another window may have signed in meanwhile.
  const isAsking = isOut || me === undefined;
  useEffect(() => {
    if (!isAsking) return undefined;
    const onFocus = (): void => void refetch().then(({ isSuccess }) => (isSuccess ? setOut(false) : undefined));
    addEventListener('focus', onFocus);
    return () => removeEventListener('focus', onFocus);
  }, [isAsking, refetch]);
  const onSignedIn = (): void => {
    setOut(false);
    void client.invalidateQueries();
  };
  if (isPending)
    return (
      <p role="status" className="quiet center">
        Loading …
      </p>
    );
  if (me === undefined) {
    return <SignIn onSignedIn={onSignedIn} problem={error?.status === 401 ? undefined : (error ?? undefined)} />;
  }
  if (globalThis.location.pathname === DONE_PAGE) return <SignedIn />;
  return (
    <Router base="/console">
      {isOut ? (
        <SignIn
          onSignedIn={onSignedIn}
          problem="The session has ended. Sign in again: nothing you wrote is lost."
          keepsPage
        />
      ) : null}
      <Header name={me.username} tenant={me.tenant} onSignedOut={() => client.clear()} />
      <Pages key={`${me.tenant} ${me.user_id}`} me={me} />
    </Router>
  );
}

/** The pages of a user. What Ask holds stays while another page is looked at. */
function Pages({ me }: { readonly me: WhoamiEntry }): ReactNode {
  const ask = useMemo(() => new AskState(`${me.tenant} ${me.user_id}`), [me.tenant, me.user_id]);
  useEffect(() => void ask.tabs.load(linkedText()), [ask]);
  useEffect(() => ask.begin(), [ask]);
  const [location, navigate] = useLocation();
  // A link that is opened where the page is already there changes no more than the text behind #.
  useEffect(() => {
    const onLink = (): void => {
      const text = linkedText();
      if (text !== null) void ask.tabs.add(text).then(() => navigate('/ask'));
    };
    addEventListener('hashchange', onLink);
    return () => removeEventListener('hashchange', onLink);
  }, [ask, navigate]);
  return (
    <main>
      <Palette commands={commandsOf(ask, navigate)} />
      <PageBoundary location={location}>
        <Suspense fallback={<p role="status">Loading …</p>}>
          <Switch>
            <Route path="/ask">
              <AskPage ask={ask} />
            </Route>
            <Route path="/history">
              <HistoryPage ask={ask} />
            </Route>
            <Route path="/queries/:id">{({ id }) => <QueryPage key={id} id={id} ask={ask} />}</Route>
            <Route path="/catalog/*?">
              <CatalogPage ask={ask} me={me} />
            </Route>
            <Route path="/admin/*?">
              <AdminPage me={me} />
            </Route>
            <Route path="/cluster">
              <ClusterPage owner={`${me.tenant} ${me.user_id}`} />
            </Route>
            <Route>
              <Redirect to="/ask" replace />
            </Route>
          </Switch>
        </Suspense>
      </PageBoundary>
    </main>
  );
}

function commandsOf(ask: AskState, navigate: (path: string) => void): readonly Command[] {
  const { tabs } = ask.tabs.state.value;
  return [
    ...PAGES.map(([path, title]) => ({ title: `Go to ${title}`, run: () => navigate(path) })),
    { title: 'New tab', run: () => void ask.tabs.add().then(() => navigate('/ask')) },
    { title: 'Load the tree again', run: () => void ask.tree.reload() },
    ...tabs.map(({ id, title }) => ({
      title: `Tab ${title}`,
      run: () => {
        ask.tabs.activate(id);
        navigate('/ask');
      },
    })),
  ];
}

/** The text of a link `/console/ask#sql=...`, which fills a tab and never runs. */
function linkedText(): string | null {
  const { hash, pathname } = globalThis.location;
  if (!hash.startsWith('#sql=')) return null;
  history.replaceState(null, '', pathname);
  try {
    return decodeURIComponent(hash.slice('#sql='.length));
  } catch {
    return null;
  }
}

/** Builds the page anew; '' when it is of the sources beside it. */
const BUILD_COMMAND = (document.querySelector<HTMLMetaElement>('meta[name=skein-build]')?.content ?? '').replace(
  '__BUILD__',
  '',
);

type HeaderProps = { readonly name: string; readonly tenant: string; readonly onSignedOut: () => void };

function Header({ name, tenant, onSignedOut }: HeaderProps): ReactNode {
  const [location] = useLocation();
  const [problem, complain] = useState('');
  const signOut = async (): Promise<void> => {
    try {
      await call('/api/console/session', { method: 'DELETE' });
    } catch (error) {
      complain(`You are still signed in: ${error instanceof Error ? error.message : String(error)}`);
      return;
    }
    onSignedOut();
    globalThis.location.assign('/console/');
  };
  return (
    <header className="bar">
      {BUILD_COMMAND === '' ? null : (
        <span role="status" className="wrong">
          This page is older than its sources: <code>{BUILD_COMMAND}</code>
        </span>
      )}
      <span className="brand">Skein</span>
      <nav aria-label="Pages">
        {PAGES.map(([path, title]) => (
          <Link key={path} href={path} aria-current={location.startsWith(path) ? 'page' : undefined}>
            {title}
          </Link>
        ))}
      </nav>
      <a href="/console/account" target="_blank" rel="noreferrer" title="Password, second factor, tokens, sign-ins">
        {name}
      </a>
      <span className="quiet">{tenant}</span>
      {problem === '' ? null : (
        <span role="alert" className="wrong">
          {problem}
        </span>
      )}
      <button type="button" onClick={() => void signOut()}>
        Sign out
      </button>
    </header>
  );
}
