import '../inspect/inspect.css';
import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import type { WhoamiEntry as Whoami } from '#coordinator/api/http/api-types.ts';
import { AuditPage } from './audit-page.tsx';
import { AccountsPage, RolesPage, TokensPage } from './machines-page.tsx';
import { PoliciesPage } from './policies-page.tsx';
import { UsagePage } from './usage-page.tsx';
import { UsersPage } from './users-page.tsx';
import { WebhooksPage } from './webhooks-page.tsx';
import { WorkloadPage } from './workload-page.tsx';

const SECTIONS: Readonly<Record<string, { readonly title: string; readonly page: (me: Whoami) => ReactNode }>> = {
  users: { title: 'Users', page: (me) => <UsersPage me={me} /> },
  roles: { title: 'Roles', page: (me) => <RolesPage me={me} /> },
  'service-accounts': { title: 'Service accounts', page: (me) => <AccountsPage me={me} /> },
  tokens: { title: 'Tokens', page: (me) => <TokensPage me={me} /> },
  policies: { title: 'Policies', page: (me) => <PoliciesPage me={me} /> },
  webhooks: { title: 'Webhooks', page: (me) => <WebhooksPage me={me} /> },
  audit: { title: 'Audit', page: () => <AuditPage /> },
  usage: { title: 'Usage', page: () => <UsagePage /> },
  workload: { title: 'Workload', page: (me) => <WorkloadPage me={me} /> },
};

/** The organisation: people, machines, policies, the audit log, usage, workload. */
export function AdminPage({ me }: { readonly me: Whoami }): ReactNode {
  const [location] = useLocation();
  const [, , named = ''] = location.split('/');
  const chosen = Object.hasOwn(SECTIONS, named) ? named : 'users';
  const section = SECTIONS[chosen];
  return (
    <div className="page">
      <nav aria-label="Administer" className="bar sections">
        {Object.entries(SECTIONS).map(([path, { title }]) => (
          <Link key={path} href={`/admin/${path}`} aria-current={path === chosen ? 'page' : undefined}>
            {title}
          </Link>
        ))}
      </nav>
      <h1>{section?.title}</h1>
      {section?.page(me)}
    </div>
  );
}
