import { SkeinError } from '#shared/error.ts';
import type { PrincipalAnswer } from '#shared/principal/principal-request.ts';
import type { PolicyArgument, PolicyRequestOf } from '#shared/policy/policy-request.ts';
import { requirePrincipalAction } from '../authorization/decide-principal.ts';
import { changing, done, type Call } from '../principal-statement/change.ts';
import {
  countPolicies,
  deletePolicy,
  insertPolicy,
  isBound,
  lockPolicy,
  replaceBody,
  type PolicyRow,
} from '../store/postgres/policy-store.ts';
import {
  displayPolicy,
  findPolicyOf,
  namespaceOfPolicy,
  POLICY_TITLES,
  requirePolicy,
  takeMappings,
  type PolicyName,
} from './policy-places.ts';

const POLICIES_MAX = 1_000;

/** @throws ALREADY_EXISTS, POLICY_IN_USE for another signature of a policy that is bound, LIMIT_REACHED, WRONG_OBJECT_TYPE, SCHEMA_NOT_FOUND */
export const createPolicy = (call: Call, input: PolicyRequestOf<'create_policy'>): Promise<PrincipalAnswer> =>
  changing(call, async ({ tx, tenant, actor, now, record }) => {
    requirePrincipalAction(actor, 'policy.change');
    const { policy: name, policyKind: kind, orReplace, ifNotExists, returns, body } = input;
    const status = `CREATE ${POLICY_TITLES[kind].toUpperCase()}`;
    const namespaceId = await namespaceOfPolicy(tx, tenant, name);
    const found = await findPolicyOf(tx, tenant, name, kind);
    if (found !== undefined && ifNotExists) return done(status);
    if (found !== undefined && !orReplace) {
      throw new SkeinError('ALREADY_EXISTS', `policy ${displayPolicy(name)} exists already`);
    }
    const mappings = await takeMappings(tx, tenant, input.mappings);
    const text = { arguments: input.arguments, returns, body, mappings };
    const target = (id: string) => ({ id, name: displayPolicy(name) });
    const details = { kind };
    if (found !== undefined) {
      await lockPolicy(tx, found.id);
      const isOther = signatureOf(found) !== signatureOf(input);
      if (isOther && (await isBound(tx, found.id))) throw inUse(name, 'a policy that is bound keeps its arguments');
      await replaceBody(tx, found.id, text);
      await record({ type: 'alter_policy', target: target(found.id), details });
      return done(status);
    }
    if ((await countPolicies(tx, tenant.id)) >= POLICIES_MAX) {
      throw new SkeinError('LIMIT_REACHED', `an organisation has at most ${POLICIES_MAX} policies`);
    }
    const row = { namespaceId, kind, name: name.name, ...text, owner: actor.username, createdAt: now };
    const id = await insertPolicy(tx, tenant.id, row, name.namespace);
    await record({ type: 'create_policy', target: target(id), details });
    return done(status);
  });

/** The facts that bindings depend on. */
const signatureOf = (of: { readonly arguments: readonly PolicyArgument[]; readonly returns: string }): string =>
  JSON.stringify([of.arguments.map(({ type }) => type), of.returns]);

/** @throws POLICY_NOT_FOUND, WRONG_OBJECT_TYPE, COMMIT_CONFLICT when the policy or a table that it reads was changed meanwhile */
export const setBody = (call: Call, input: PolicyRequestOf<'set_body'>): Promise<PrincipalAnswer> =>
  changing(call, async ({ tx, tenant, actor, record }) => {
    requirePrincipalAction(actor, 'policy.change');
    const { policy: name, policyKind: kind, version, body } = input;
    const found = await requirePolicy(tx, tenant, name, kind);
    requireVersion(await lockPolicy(tx, found.id), version, name);
    await replaceBody(tx, found.id, { body, mappings: await takeMappings(tx, tenant, input.mappings) });
    await record({ type: 'alter_policy', target: { id: found.id, name: displayPolicy(found) }, details: { kind } });
    return done(`ALTER ${POLICY_TITLES[kind].toUpperCase()}`);
  });

/** @throws POLICY_NOT_FOUND, POLICY_IN_USE while something is bound to it, dropped tables that can be had back included */
export const dropPolicy = (call: Call, input: PolicyRequestOf<'drop_policy'>): Promise<PrincipalAnswer> =>
  changing(call, async ({ tx, tenant, actor, record }) => {
    requirePrincipalAction(actor, 'policy.change');
    const { policy: name, policyKind: kind, ifExists } = input;
    const status = `DROP ${POLICY_TITLES[kind].toUpperCase()}`;
    const found = ifExists ? await findPolicyOf(tx, tenant, name, kind) : await requirePolicy(tx, tenant, name, kind);
    if (found === undefined) return done(status);
    await lockPolicy(tx, found.id);
    if (!(await deletePolicy(tx, found.id))) {
      throw inUse(name, 'it is bound to a table, perhaps one that was dropped and can be had back');
    }
    await record({ type: 'drop_policy', target: { id: found.id, name: displayPolicy(found) }, details: { kind } });
    return done(status);
  });

const inUse = (name: PolicyName, why: string): SkeinError =>
  new SkeinError('POLICY_IN_USE', `policy ${displayPolicy(name)}: ${why}`);

/** @throws COMMIT_CONFLICT when the policy has another body than the caller has read, or is gone */
export function requireVersion(now: string | undefined, read: PolicyRow['version'], name: PolicyName): void {
  if (now === read) return;
  throw new SkeinError('COMMIT_CONFLICT', `policy ${displayPolicy(name)} was changed meanwhile`);
}
