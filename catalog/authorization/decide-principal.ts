import type { Decision } from '#shared/authorization/action.ts';
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

/**
 * Rules of the statements about principals (service specification, Privileges): the privilege that allows the action beside the role
 * `tenant_admin`, null = none does; whether everybody may do it to himself, or nobody; and whether it could give the caller what the target
 * may do, so that a target with `tenant_admin` or a privilege is left to a tenant_admin.
 */
const RULES = {
  'user.create': { by: 'MANAGE USERS', self: 'as others', guards: false },
  'user.show': { by: 'MANAGE USERS', self: 'allowed', guards: false },
  'user.change': { by: 'MANAGE USERS', self: 'as others', guards: true },
  'user.end': { by: 'MANAGE USERS', self: 'refused', guards: true },
  'account.create': { by: 'MANAGE SERVICE ACCOUNTS', self: 'as others', guards: false },
  'account.show': { by: 'MANAGE SERVICE ACCOUNTS', self: 'allowed', guards: false },
  'account.change': { by: 'MANAGE SERVICE ACCOUNTS', self: 'as others', guards: true },
  'account.end': { by: 'MANAGE SERVICE ACCOUNTS', self: 'refused', guards: true },
  'token.show': { by: 'MANAGE PATS', self: 'allowed', guards: false },
  'token.change': { by: 'MANAGE PATS', self: 'allowed', guards: true },
  'role.change': { by: null, self: 'as others', guards: false },
  'role.grant': { by: null, self: 'as others', guards: false },
  'privilege.grant': { by: null, self: 'as others', guards: false },
  'webhook.change': { by: null, self: 'as others', guards: false },
  /** Policies and what they are bound to. */
  'policy.change': { by: 'MANAGE POLICIES', self: 'as others', guards: false },
  'audit.show': { by: null, self: 'as others', guards: false },
} as const satisfies Readonly<
  Record<
    string,
    {
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
function decidePrincipal(actor: Rights, action: PrincipalAction, target?: Rights): Decision {
  const { by, self, guards } = RULES[action];
  if (target?.id === actor.id) {
    if (self === 'allowed') return ALLOWED;
    if (self === 'refused') return refused('nobody suspends or drops himself');
  }
  if (actor.isAdmin) return ALLOWED;
  if (by === null) return refused('this is for a tenant_admin');
  if (!actor.privileges.has(by)) return refused(`this needs the privilege ${by}`);
  if (guards && target !== undefined && (target.isAdmin || target.privileges.size > 0)) {
    return refused('who has tenant_admin or a privilege is changed by a tenant_admin only');
  }
  return ALLOWED;
}

/** @throws FORBIDDEN */
export function requirePrincipalAction(actor: Rights, action: PrincipalAction, target?: Rights): void {
  const decision = decidePrincipal(actor, action, target);
  if (!decision.allowed) throw new SkeinError('FORBIDDEN', decision.reason);
}
