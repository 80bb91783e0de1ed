import { expect, test } from 'vitest';
import { principalId } from '#shared/id.ts';
import type { Privilege } from '#shared/principal/privilege.ts';
import { SkeinError } from '#shared/error.ts';
import { requirePrincipalAction, type Actor, type PrincipalAction, type Rights } from './decide-principal.ts';

const of = (id: string, isAdmin: boolean, ...privileges: readonly Privilege[]): Actor => ({
  id: principalId(id),
  isAdmin,
  privileges: new Set(privileges),
  scopes: new Set(['principal:read', 'principal:write']),
});
const ACTORS = {
  admin: of('admin', true),
  users: of('users', false, 'MANAGE USERS'),
  pats: of('pats', false, 'MANAGE PATS'),
  accounts: of('accounts', false, 'MANAGE SERVICE ACCOUNTS'),
  all: of('all', false, 'MANAGE USERS', 'MANAGE PATS', 'MANAGE SERVICE ACCOUNTS'),
  providers: of('providers', false, 'MANAGE IDENTITY PROVIDERS'),
  plain: of('plain', false),
} as const;
const TARGETS = {
  nobody: undefined,
  another: of('another', false),
  holder: of('holder', false, 'MANAGE PATS'),
  administrator: of('administrator', true),
} as const;

/** The targets, in their order, to which each actor may do the action: `yes`, or `-`; then whether he may do it to himself. */
const EXPECTED: Readonly<Record<PrincipalAction, Readonly<Record<keyof typeof ACTORS, string>>>> = {
  'user.create': rows('yes yes yes yes yes', { users: 'yes yes yes yes yes', all: 'yes yes yes yes yes' }),
  'user.show': rows('yes yes yes yes yes', {
    users: 'yes yes yes yes yes',
    all: 'yes yes yes yes yes',
    ...self('user'),
  }),
  'user.change': rows('yes yes yes yes yes', { users: 'yes yes - - -', all: 'yes yes - - -' }),
  'user.end': rows('yes yes yes yes -', { users: 'yes yes - - -', all: 'yes yes - - -' }),
  'account.create': rows('yes yes yes yes yes', { accounts: 'yes yes yes yes yes', all: 'yes yes yes yes yes' }),
  'account.show': rows('yes yes yes yes yes', {
    accounts: 'yes yes yes yes yes',
    all: 'yes yes yes yes yes',
    ...self('account'),
  }),
  'account.change': rows('yes yes yes yes yes', { accounts: 'yes yes - - -', all: 'yes yes - - -' }),
  'account.end': rows('yes yes yes yes -', { accounts: 'yes yes - - -', all: 'yes yes - - -' }),
  'token.show': rows('yes yes yes yes yes', {
    pats: 'yes yes yes yes yes',
    all: 'yes yes yes yes yes',
    ...self('token'),
  }),
  'token.change': rows('yes yes yes yes yes', { pats: 'yes yes - - yes', all: 'yes yes - - yes', ...self('token') }),
  'role.change': rows('yes yes yes yes yes', {}),
  'role.grant': rows('yes yes yes yes yes', {}),
  'privilege.grant': rows('yes yes yes yes yes', {}),
  'webhook.show': rows('yes yes yes yes yes', {}),
  'webhook.change': rows('yes yes yes yes yes', {}),
  'policy.show': rows('yes yes yes yes yes', {}),
  'policy.change': rows('yes yes yes yes yes', {}),
  'provider.show': rows('yes yes yes yes yes', { providers: 'yes yes yes yes yes' }),
  'provider.create': rows('yes yes yes yes yes', { providers: 'yes yes yes yes yes' }),
  'provider.change': rows('yes yes yes yes yes', { providers: 'yes yes - - -' }),
  'audit.show': rows('yes yes yes yes yes', {}),
};

/** The outcomes of each actor; one that is not named may do nothing. */
function rows(
  admin: string,
  others: Partial<Record<keyof typeof ACTORS, string>>,
): Readonly<Record<keyof typeof ACTORS, string>> {
  const none = '- - - - -';
  return { admin, users: none, pats: none, accounts: none, all: none, providers: none, plain: none, ...others };
}

/** Everybody sees himself; the actors who are not named otherwise. */
function self(kind: 'user' | 'account' | 'token'): Partial<Record<keyof typeof ACTORS, string>> {
  const own = '- - - - yes';
  const named = { user: 'users', account: 'accounts', token: 'pats' } as const;
  const others = (['users', 'pats', 'accounts', 'providers', 'plain'] as const).filter(
    (actor) => actor !== named[kind],
  );
  return Object.fromEntries(others.map((actor) => [actor, own]));
}

const outcome = (actor: Actor, action: PrincipalAction, target: Rights | undefined): string => {
  try {
    requirePrincipalAction(actor, action, target);
    return 'yes';
  } catch (error) {
    return SkeinError.of(error).code === 'FORBIDDEN' ? '-' : 'an error';
  }
};

test.each(Object.entries(EXPECTED) as [PrincipalAction, Readonly<Record<keyof typeof ACTORS, string>>][])(
  '%s: each actor and each target',
  (action, expected) => {
    const found = Object.fromEntries(
      Object.entries(ACTORS).map(([name, actor]) => [
        name,
        [...Object.values(TARGETS), actor].map((target) => outcome(actor, action, target)).join(' '),
      ]),
    );
    expect(found).toEqual(expected);
  },
);

test.each(Object.keys(EXPECTED) as PrincipalAction[])(
  '%s by a token that was narrowed: to oneself at most',
  (action) => {
    const own = action.endsWith('.show') ? 'principal:read' : 'principal:write';
    const other = own === 'principal:read' ? 'principal:write' : 'principal:read';
    const all = ['table:read', 'table:write', 'catalog:write', other];
    for (const target of [TARGETS.nobody, TARGETS.another]) {
      const outcomes = [all, [own]].map((scopes) =>
        outcome({ ...ACTORS.admin, scopes: new Set(scopes) }, action, target),
      );
      expect(outcomes).toEqual(['-', 'yes']);
    }
    for (const actor of Object.values(ACTORS)) {
      const without = outcome({ ...actor, scopes: new Set() }, action, actor);
      const isOwn = ['user.show', 'account.show', 'token.show', 'token.change'].includes(action);
      expect(without).toBe(isOwn ? 'yes' : '-');
    }
  },
);
