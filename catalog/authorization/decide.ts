import { OWN_PASSWORD_FIRST } from '#shared/authorization/own-password-first.ts';
import { ALL_ACTIONS, type Action, type Decision } from '#shared/authorization/action.ts';
import type { Principal } from '#shared/authorization/principal.ts';
import { SkeinError } from '#shared/error.ts';
import { scopesOf, type Scope } from '#shared/authorization/token-claims.ts';
import type { Securable } from './securable.ts';
import { TENANT_ADMIN } from '../store/postgres/principal-store.ts';

type Rule = Scope | readonly Scope[] | 'tenant' | { readonly is: 'administrator' | 'operator'; readonly scope: Scope };

/**
 * The rule of an action: the scope or scopes that the token needs (service specification, Authentication 4), `tenant` for every principal of the
 * object's tenant; or of whom the role `tenant_admin` is asked, or also that the operator of the cluster has made the token, and the scope that
 * a narrowed token of such a one needs all the same. Objects of another tenant are never found, so no rule speaks of them.
 */
const RULES = {
  'catalog.resolve': 'tenant',
  'catalog.list': 'catalog:read',
  'catalog.describe': 'catalog:read',
  'catalog.use': 'catalog:read',
  'catalog.create': 'catalog:write',
  'catalog.rename': ['catalog:write', 'namespace:write', 'table:write'],
  'catalog.drop': 'catalog:write',

  'schema.resolve': 'tenant',
  'schema.list': 'namespace:read',
  'schema.describe': 'namespace:read',
  'schema.use': 'namespace:read',
  'schema.create': 'namespace:write',
  'schema.alter': 'namespace:write',
  'schema.rename': ['namespace:write', 'table:write'],
  'schema.drop': 'namespace:write',

  'table.list': 'table:read',
  'table.describe': 'table:read',
  'table.select': 'table:read',
  'table.read_files': 'table:data',
  'table.write_files': ['table:data', 'table:write'],
  'table.create': 'table:write',
  'table.commit': 'table:write',
  'table.rename': 'table:write',
  'table.drop': 'table:write',

  'view.list': 'table:read',
  'view.describe': 'table:read',
  'view.create': 'table:write',
  'view.replace': 'table:write',
  'view.rename': 'table:write',
  'view.drop': 'table:write',

  'function.list': 'table:read',
  'function.describe': 'table:read',
  'function.create': 'table:write',
  'function.drop': 'table:write',

  'stage.list': 'table:read',
  'stage.read': 'table:read',
  'stage.write': 'table:write',
  'stage.create': 'namespace:write',
  'stage.rename': 'namespace:write',
  'stage.drop': 'namespace:write',

  'query.read': 'table:read',
  'query.stop': 'table:read',
  'query.list': { is: 'administrator', scope: 'principal:read' },
  'query.cancel': { is: 'administrator', scope: 'principal:write' },

  'stats.read': 'table:read',

  'quarantine.list': { is: 'operator', scope: 'principal:read' },
  'quarantine.lift': { is: 'operator', scope: 'principal:write' },
} as const satisfies Readonly<Record<Action, Rule>>;

/** To read below some folders, or also to write there. */
type Permission = 'read' | 'write';

const ALLOWED: Decision = { allowed: true };
const refused = (reason: string): Decision => ({ allowed: false, reason });

/**
 * Decides whether the principal may do the action to the object. Everything that is allowed or refused anywhere is decided here, for each
 * object by itself. Today's rules are the same for all objects of a tenant.
 */
export function decide(principal: Principal, action: Action, _object: Securable): Decision {
  const rule = RULES[action];
  if (principal.must_change_password === true) return refused(OWN_PASSWORD_FIRST);
  if (rule === 'tenant') return ALLOWED;
  const isAdministrator = principal.roles.includes(TENANT_ADMIN);
  const needed = typeof rule === 'object' && 'is' in rule ? rule : { is: 'anybody', scope: rule };
  if (needed.is === 'administrator' && !isAdministrator) return refused('this is for an administrator of the tenant');
  const isOperator = principal.auth_method === 'operator' && isAdministrator;
  if (needed.is === 'operator' && !isOperator) return refused('this is for the operator');
  const scopes = scopesOf(principal);
  const missing = [needed.scope].flat().find((scope) => !scopes.has(scope));
  return missing === undefined ? ALLOWED : refused(`the token lacks the scope ${missing}`);
}

/** The access of a principal to a table's files without the engine: none, because of the reason, or to read, or also to write. */
export type FileDecision = Permission | { readonly refused: string };

/** Why nobody gets files of a table with policies that concern him. */
export const THROUGH_SQL = 'policies apply to the table: query it through SQL';

/**
 * Decides what a principal may do with the files of a table itself. Whoever has the files has all of their rows, so that nobody gets those of
 * a table with a policy that concerns him: the engine alone applies policies.
 */
export function decideFiles(principal: Principal, object: Securable, hasPolicies: boolean): FileDecision {
  const reading = decide(principal, 'table.read_files', object);
  if (!reading.allowed) return { refused: reading.reason };
  if (hasPolicies) return { refused: THROUGH_SQL };
  return decide(principal, 'table.write_files', object).allowed ? 'write' : 'read';
}

/** @throws FORBIDDEN */
export function requireAction(principal: Principal, action: Action, object: Securable): void {
  const decision = decide(principal, action, object);
  if (!decision.allowed) throw new SkeinError('FORBIDDEN', decision.reason);
}

/** Returns those of the actions that the principal may do to the object. */
export const allowedActions = (
  principal: Principal,
  object: Securable,
  actions: readonly Action[] = ALL_ACTIONS,
): readonly Action[] => actions.filter((action) => decide(principal, action, object).allowed);
