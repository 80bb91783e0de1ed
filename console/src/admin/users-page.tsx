import { useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import type { WhoamiEntry as Whoami } from '#coordinator/api/http/api-types.ts';
import { RowsTab } from '../inspect/rows-tab.tsx';
import { Actions, type Action } from '../statement/action-form.tsx';
import { PrincipalList } from './principal-list.tsx';
import { principalRefusal } from './rights.ts';
import { RunningStatements } from './running-statements.tsx';
import {
  alterUser,
  createUser,
  describeUser,
  dropUser,
  expungeUser,
  grantPrivilege,
  grantRole,
  PRIVILEGES,
  renameUser,
  setLegalHold,
  setPassword,
  setUserState,
  showGrants,
  undropUser,
  type UserFields,
  type UserState,
} from './statements.ts';
import type { Field, Values } from '../statement/action-form.tsx';

const STATUSES = ['ACTIVE', 'INVITED', 'SUSPENDED', 'DEACTIVATED', 'PROVISIONED', 'LOCKED'];

/** People: found, invited, and what is done to one. */
export function UsersPage({ me }: { readonly me: Whoami }): ReactNode {
  const [chosen, choose] = useState<string | null>(null);
  const [version, setVersion] = useState(0);
  const changed = (): void => setVersion((now) => now + 1);
  return (
    <>
      <PrincipalList kind="users" label="Users" statuses={STATUSES} version={version} onChoose={choose} />
      <Actions
        onDone={changed}
        actions={[
          {
            title: 'Create a user',
            fields: [
              { name: 'NAME', kind: 'text' },
              ...PROFILE,
              {
                name: 'PASSWORD',
                kind: 'secret',
                optional: true,
                hint: 'Without one the user is invited: the address is shown once',
              },
              { name: 'MUST_CHANGE_PASSWORD', kind: 'flag', initial: 'true' },
            ],
            make: (values) =>
              createUser(
                values['NAME'] ?? '',
                profileOf(values),
                values['PASSWORD'] ?? '',
                values['MUST_CHANGE_PASSWORD'] === 'true',
              ),
            refusal: principalRefusal(me, 'MANAGE USERS'),
          },
        ]}
      />
      {chosen === null ? null : <OneUser key={`${chosen} ${version}`} user={chosen} me={me} onChanged={changed} />}
    </>
  );
}

const PROFILE: readonly Field[] = [
  { name: 'EMAIL', kind: 'text' },
  { name: 'DISPLAY_NAME', kind: 'text', optional: true },
  { name: 'DEFAULT_ROLE', kind: 'text', optional: true },
  { name: 'COMMENT', kind: 'text', optional: true },
];
const profileOf = ({ EMAIL = '', DISPLAY_NAME = '', DEFAULT_ROLE = '', COMMENT = '' }: Values): UserFields => ({
  email: EMAIL,
  displayName: DISPLAY_NAME,
  defaultRole: DEFAULT_ROLE,
  comment: COMMENT,
});

type OneProps = { readonly user: string; readonly me: Whoami; readonly onChanged: () => void };

function OneUser({ user, me, onChanged }: OneProps): ReactNode {
  return (
    <section aria-label={`User ${user}`}>
      <h2>{user}</h2>
      <Actions actions={userActions(user, me)} onDone={onChanged} />
      <h3>About</h3>
      <RowsTab made={describeUser(user)} label={`About ${user}`} as="record" />
      <h3>Roles and privileges</h3>
      <RowsTab made={showGrants('USER', user)} label={`Grants of ${user}`} />
      <p>
        <Link href={`/admin/audit?event=sign_in&target=${encodeURIComponent(user)}`}>Last sign-ins of {user}</Link>,{' '}
        <Link href={`/admin/audit?target=${encodeURIComponent(user)}`}>what was done to {user}</Link>,{' '}
        <Link href={`/admin/audit?actor=${encodeURIComponent(user)}`}>what {user} has done</Link>
      </p>
      <h3>Running statements</h3>
      {principalRefusal(me, null) === undefined || user === me.username ? (
        <RunningStatements user={user} />
      ) : (
        <p className="quiet">{principalRefusal(me, null)}</p>
      )}
      <h3>Tokens</h3>
      <PrincipalList kind="tokens" label={`Tokens of ${user}`} of={user} version={0} />
    </section>
  );
}

function userActions(user: string, me: Whoami): readonly Action[] {
  const refusal = principalRefusal(me, 'MANAGE USERS');
  const adminOnly = principalRefusal(me, null);
  const state = (title: string, to: UserState): Action => ({
    title,
    fields: [],
    make: () => setUserState(user, to),
    refusal,
  });
  const named = (
    title: string,
    field: string,
    make: (value: string) => ReturnType<Action['make']>,
    more: Partial<Action> = {},
  ): Action => ({
    title,
    fields: [{ name: field, kind: 'text' }],
    make: (values) => make(values[field] ?? ''),
    refusal,
    ...more,
  });
  const privilege: Field = { name: 'PRIVILEGE', kind: 'choice', choices: PRIVILEGES, initial: PRIVILEGES[0] };
  return [
    {
      title: 'Change',
      fields: PROFILE.map((field) => ({ ...field, optional: true })),
      make: (values) => alterUser(user, profileOf(values)),
      refusal,
    },
    {
      title: 'Reset the password',
      fields: [{ name: 'PASSWORD', kind: 'secret' }],
      make: ({ PASSWORD = '' }) => setPassword(user, PASSWORD),
      refusal,
    },
    state('Suspend', 'SUSPEND'),
    state('Unsuspend', 'UNSUSPEND'),
    state('Unlock', 'UNLOCK'),
    state('Reset the factor', 'RESET MFA'),
    named('Rename', 'RENAME TO', (to) => renameUser(user, to)),
    named('Set legal hold', 'REASON', (reason) => setLegalHold(user, reason)),
    state('Clear legal hold', 'CLEAR LEGAL HOLD'),
    named('Grant a role', 'ROLE', (role) => grantRole(role, 'USER', user), { refusal: adminOnly }),
    named('Revoke a role', 'ROLE', (role) => grantRole(role, 'USER', user, true), { refusal: adminOnly }),
    {
      title: 'Grant a privilege',
      fields: [privilege],
      make: ({ PRIVILEGE = '' }) => grantPrivilege(PRIVILEGE, 'USER', user),
      refusal: adminOnly,
    },
    {
      title: 'Revoke a privilege',
      fields: [privilege],
      make: ({ PRIVILEGE = '' }) => grantPrivilege(PRIVILEGE, 'USER', user, true),
      refusal: adminOnly,
    },
    {
      title: 'Drop',
      fields: [{ name: 'CASCADE', kind: 'flag' }],
      make: ({ CASCADE = '' }) => dropUser(user, CASCADE === 'true'),
      danger: user,
      refusal,
    },
    { title: 'Undrop', fields: [], make: () => undropUser(user), refusal },
    named('Expunge', 'REASON', (reason) => expungeUser(user, reason), { danger: user }),
  ];
}
