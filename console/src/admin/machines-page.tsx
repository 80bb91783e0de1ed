import { useState, type ReactNode } from 'react';
import type { WhoamiEntry as Whoami } from '#coordinator/api/http/api-types.ts';
import { FilterField } from '../app/filter-field.tsx';
import { RowsTab } from '../inspect/rows-tab.tsx';
import { Actions, type Action } from '../statement/action-form.tsx';
import { Holders } from './holders.tsx';
import { PrincipalList } from './principal-list.tsx';
import { principalRefusal } from './rights.ts';
import {
  addKeypair,
  ALGORITHMS,
  alterRole,
  createAccount,
  createRole,
  createToken,
  dropAccount,
  dropKeypair,
  dropRole,
  dropToken,
  grantRole,
  refusedKey,
  showGrants,
} from './statements.ts';

type Props = { readonly me: Whoami };

/** Roles: named sets of scopes. */
export function RolesPage({ me }: Props): ReactNode {
  const [chosen, choose] = useState<string | null>(null);
  const [version, setVersion] = useState(0);
  const refusal = principalRefusal(me, null);
  return (
    <>
      <PrincipalList kind="roles" label="Roles" version={version} onChoose={choose} />
      <Actions
        key={chosen}
        onDone={() => setVersion((now) => now + 1)}
        actions={[
          {
            title: 'Create a role',
            fields: [
              { name: 'NAME', kind: 'text' },
              { name: 'SCOPE', kind: 'text', optional: true, hint: 'namespace:read table:read' },
              { name: 'COMMENT', kind: 'text', optional: true },
            ],
            make: ({ NAME = '', SCOPE = '', COMMENT = '' }) => createRole(NAME, SCOPE, COMMENT),
            refusal,
          },
          ...(chosen === null ? [] : roleActions(chosen, refusal)),
        ]}
      />
      {chosen === null ? null : <Holders key={chosen} me={me} role={chosen} version={version} />}
    </>
  );
}

const roleActions = (role: string, refusal: string | undefined): readonly Action[] => [
  {
    title: `Scopes of ${role}`,
    fields: [{ name: 'SCOPE', kind: 'text' }],
    make: ({ SCOPE = '' }) => alterRole(role, SCOPE),
    refusal,
  },
  {
    title: `Grant ${role}`,
    fields: [
      { name: 'KIND', kind: 'choice', choices: ['USER', 'SERVICE ACCOUNT'], initial: 'USER' },
      { name: 'NAME', kind: 'text' },
    ],
    make: ({ KIND = '', NAME = '' }) => grantRole(role, KIND === 'USER' ? 'USER' : 'SERVICE ACCOUNT', NAME),
    refusal,
  },
  {
    title: `Revoke ${role}`,
    fields: [
      { name: 'KIND', kind: 'choice', choices: ['USER', 'SERVICE ACCOUNT'], initial: 'USER' },
      { name: 'NAME', kind: 'text' },
    ],
    make: ({ KIND = '', NAME = '' }) => grantRole(role, KIND === 'USER' ? 'USER' : 'SERVICE ACCOUNT', NAME, true),
    refusal,
  },
  { title: `Drop ${role}`, fields: [], make: () => dropRole(role), danger: role, refusal },
];

/** Service accounts with their keys. */
export function AccountsPage({ me }: Props): ReactNode {
  const [chosen, choose] = useState<string | null>(null);
  const [version, setVersion] = useState(0);
  const refusal = principalRefusal(me, 'MANAGE SERVICE ACCOUNTS');
  return (
    <>
      <PrincipalList kind="service-accounts" label="Service accounts" version={version} onChoose={choose} />
      <Actions
        key={chosen}
        onDone={() => setVersion((now) => now + 1)}
        actions={[
          {
            title: 'Create a service account',
            fields: [
              { name: 'NAME', kind: 'text' },
              { name: 'DEFAULT_ROLE', kind: 'text', optional: true },
              { name: 'COMMENT', kind: 'text', optional: true },
            ],
            make: ({ NAME = '', DEFAULT_ROLE = '', COMMENT = '' }) => createAccount(NAME, DEFAULT_ROLE, COMMENT),
            refusal,
          },
          ...(chosen === null ? [] : accountActions(chosen, refusal)),
        ]}
      />
      {chosen === null ? null : (
        <RowsTab
          key={`${chosen} ${version}`}
          made={showGrants('SERVICE ACCOUNT', chosen)}
          label={`Grants of ${chosen}`}
        />
      )}
      <p className="quiet">OAuth clients are the operator&apos;s: skein admin client create makes one.</p>
    </>
  );
}

const accountActions = (account: string, refusal: string | undefined): readonly Action[] => [
  {
    title: `Add a key to ${account}`,
    fields: [
      { name: 'KEY_ID', kind: 'text' },
      { name: 'PUBLIC_KEY', kind: 'lines', hint: 'PEM' },
      { name: 'ALGORITHM', kind: 'choice', choices: ALGORITHMS, optional: true },
    ],
    make: ({ KEY_ID = '', PUBLIC_KEY = '', ALGORITHM = '' }) => addKeypair(account, KEY_ID, PUBLIC_KEY, ALGORITHM),
    refuse: ({ PUBLIC_KEY = '' }) => refusedKey(PUBLIC_KEY),
    refusal,
  },
  {
    title: `Drop a key of ${account}`,
    fields: [{ name: 'KEY_ID', kind: 'text' }],
    make: ({ KEY_ID = '' }) => dropKeypair(account, KEY_ID),
    danger: account,
    refusal,
  },
  { title: `Drop ${account}`, fields: [], make: () => dropAccount(account), danger: account, refusal },
];

/** Tokens, which are shown once. */
export function TokensPage({ me }: Props): ReactNode {
  const [owner, setOwner] = useState('');
  const [version, setVersion] = useState(0);
  const refusal = owner === '' ? undefined : principalRefusal(me, 'MANAGE PATS');
  return (
    <>
      <FilterField label="Tokens of (a name; empty: your own)" type="text" value={owner} onSet={setOwner} />
      <PrincipalList kind="tokens" label="Tokens" of={owner} version={version} />
      <Actions
        onDone={() => setVersion((now) => now + 1)}
        actions={[
          {
            title: 'Create a token',
            fields: [
              { name: 'NAME', kind: 'text' },
              { name: 'TTL', kind: 'number', optional: true, hint: 'Days: 90 without it' },
              { name: 'SCOPE', kind: 'text', optional: true },
            ],
            make: ({ NAME = '', TTL = '', SCOPE = '' }) => createToken(NAME, owner, TTL, SCOPE),
            refusal,
          },
          {
            title: 'Drop a token',
            fields: [{ name: 'NAME', kind: 'text' }],
            make: ({ NAME = '' }) => dropToken(NAME, owner),
            refusal,
          },
        ]}
      />
      <p className="quiet">A new token is in the answer, this once: copy it, it is not kept.</p>
    </>
  );
}
