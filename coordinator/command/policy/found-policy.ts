import type { FoundPolicy, PolicyKind, PolicyRequestOf } from '#shared/policy/policy-request.ts';
import type { CommandContext } from '../../operation/command-context.ts';

/** The facts of a policy that a binding and a new body need. @throws POLICY_NOT_FOUND, WRONG_OBJECT_TYPE, FORBIDDEN */
export async function foundPolicy(
  policy: PolicyRequestOf<'find_policy'>['policy'],
  policyKind: PolicyKind,
  { catalog, caller }: Pick<CommandContext, 'catalog' | 'caller'>,
): Promise<FoundPolicy> {
  const { rows } = await catalog.runPolicyStatement(caller.claims, { kind: 'find_policy', policy, policyKind });
  return JSON.parse(rows[0]?.[0] ?? '') as FoundPolicy;
}
