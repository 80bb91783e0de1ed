import type { Decision } from '#shared/authorization/action.ts';
import type { Scope } from '#shared/authorization/token-claims.ts';
import { SkeinError } from '#shared/error.ts';
import type { PrincipalId } from '#shared/id.ts';
import type { Privilege } from '#shared/principal/privilege.ts';

/** The rights of a principal as the database has them at the moment of a statement; its token may be older. */
export type Rights = {
  readonly id: PrincipalId;
  /** Has the role `tenant_admin`. */
  readonly isAdmin: boolean;
  readonly privileges: ReadonlySet<Privilege>;
};

/** The principal that asks; its token may have fewer scopes than its rights give. */
export type Actor = Rights & { readonly scopes: ReadonlySet<string> };

const READ = 'principal:read';
const WRITE = 'principal:write';

/**
 * Rules of the statements about principals (service specification, Privileges): the privilege that allows the action beside the role
 * `tenant_admin`, null = none does; whether everybody may do it to himself, or nobody; and whether it could give the caller what the target
 * may do, so that a target with `tenant_admin` or a privilege is left to a tenant_admin. What is not done to oneself needs the scope
 * `principal:read` or `principal:write` as well: a token that was narrowed to less makes nobody an administrator.
 */
const RULES = {
  'user.create': { scope: WRITE, by: 'MANAGE USERS', self: 'as others', guards: false },
  'user.show': { scope: READ, by: 'MANAGE USERS', self: 'allowed', guards: false },
  'user.change': { scope: WRITE, by: 'MANAGE USERS', self: 'as others', guards: true },
  'user.end': { scope: WRITE, by: 'MANAGE USERS', self: 'refused', guards: true },
  'account.create': { scope: WRITE, by: 'MANAGE SERVICE ACCOUNTS', self: 'as others', guards: false },
  'account.show': { scope: READ, by: 'MANAGE SERVICE ACCOUNTS', self: 'allowed', guards: false },
  'account.change': { scope: WRITE, by: 'MANAGE SERVICE ACCOUNTS', self: 'as others', guards: true },
  'account.end': { scope: WRITE, by: 'MANAGE SERVICE ACCOUNTS', self: 'refused', guards: true },
  'token.show': { scope: READ, by: 'MANAGE PATS', self: 'allowed', guards: false },
  'token.change': { scope: WRITE, by: 'MANAGE PATS', self: 'allowed', guards: true },
  'role.change': { scope: WRITE, by: null, self: 'as others', guards: false },
  'role.grant': { scope: WRITE, by: null, self: 'as others', guards: false },
  'privilege.grant': { scope: WRITE, by: null, self: 'as others', guards: false },
  'webhook.show': { scope: READ, by: null, self: 'as others', guards: false },
  'webhook.change': { scope: WRITE, by: null, self: 'as others', guards: false },
  /** Policies and what they are bound to. */
  'policy.show': { scope: READ, by: 'MANAGE POLICIES', self: 'as others', guards: false },
  'policy.change': { scope: WRITE, by: 'MANAGE POLICIES', self: 'as others', guards: false },
  /** Identity providers, which sign in whom they are trusted for. */
  'provider.show': { scope: READ, by: 'MANAGE IDENTITY PROVIDERS', self: 'as others', guards: false },
  'provider.create': { scope: WRITE, by: 'MANAGE IDENTITY PROVIDERS', self: 'as others', guards: false },
  'provider.change': { scope: WRITE, by: 'MANAGE IDENTITY PROVIDERS', self: 'as others', guards: true },
  'audit.show': { scope: READ, by: null, self: 'as others', guards: false },
} as const satisfies Readonly<
  Record<
    string,
    {
      readonly scope: Scope;
      readonly by: Privilege | null;
      readonly self: 'allowed' | 'refused' | 'as others';
      readonly guards: boolean;
    }
  >
>;
export type PrincipalAction = keyof typeof RULES;

const ALLOWED: Decision = { allowed: true };
const refused = (reason: string): Decision => ({ allowed: false, reason });

/** Decides whether the actor may do the action to the target; undefined = it has none yet, or it is a list. */
function decidePrincipal(actor: Actor, action: PrincipalAction, target?: Rights): Decision {
  const { scope, by, self, guards } = RULES[action];
  if (target?.id === actor.id) {
    if (self === 'allowed') return ALLOWED;
    if (self === 'refused') return refused('nobody suspends or drops himself');
  }
  if (!actor.isAdmin && by === null) return refused('this is for a tenant_admin');
  if (!actor.isAdmin && by !== null && !actor.privileges.has(by)) return refused(`this needs the privilege ${by}`);
  if (!actor.scopes.has(scope)) return refused(`the token lacks the scope ${scope}`);
  if (actor.isAdmin) return ALLOWED;
  if (guards && target !== undefined && (target.isAdmin || target.privileges.size > 0)) {
    return refused('who has tenant_admin or a privilege is changed by a tenant_admin only');
  }
  return ALLOWED;
}

/** @throws FORBIDDEN */
export function requirePrincipalAction(actor: Actor, action: PrincipalAction, target?: Rights): void {
  const decision = decidePrincipal(actor, action, target);
  if (!decision.allowed) throw new SkeinError('FORBIDDEN', decision.reason);
}
