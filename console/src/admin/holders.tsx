import type { ReactNode } from 'react';
import type { WhoamiEntry as Whoami } from '#coordinator/api/http/api-types.ts';
import { PrincipalList } from './principal-list.tsx';
import { principalRefusal } from './rights.ts';

type Props = { readonly me: Whoami; readonly version: number } & (
  | { readonly role: string }
  | { readonly privilege: string }
);

/** The users and service accounts that have a role or a privilege, as far as the reader may see them. */
export function Holders({ me, version, ...held }: Props): ReactNode {
  const what = 'role' in held ? `the role ${held.role}` : held.privilege;
  const users = principalRefusal(me, 'MANAGE USERS', 'principal:read');
  const accounts = principalRefusal(me, 'MANAGE SERVICE ACCOUNTS', 'principal:read');
  return (
    <>
      <h4>Users with {what}</h4>
      {users === undefined ? (
        <PrincipalList kind="users" label={`Users with ${what}`} holding={held} version={version} />
      ) : (
        <p className="quiet">{users}</p>
      )}
      <h4>Service accounts with {what}</h4>
      {accounts === undefined ? (
        <PrincipalList
          kind="service-accounts"
          label={`Service accounts with ${what}`}
          holding={held}
          version={version}
        />
      ) : (
        <p className="quiet">{accounts}</p>
      )}
    </>
  );
}
