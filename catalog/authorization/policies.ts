import { createHash } from 'node:crypto';
import type { Principal } from '#shared/authorization/principal.ts';
import type { PolicyMessage } from '#shared/authorization/table-policy.ts';

/** The policies of a table for one reader, who must apply them; the version changes whenever one of them changes. */
export type TablePolicies = {
  readonly policies: readonly PolicyMessage[];
  readonly policy_version: string;
};

/** A table that nothing is bound to. */
export const NO_POLICIES: TablePolicies = { policies: [], policy_version: '0' };

/** A table with policies, for those whom none of them concerns. */
const EXEMPT: TablePolicies = { policies: [], policy_version: 'exempt' };

/** Whether no policy concerns the principal. Neither an administrator nor an owner is exempt by being one. */
const isExempt = ({ privileges = [] }: Pick<Principal, 'privileges'>): boolean =>
  privileges.includes('BYPASS POLICIES');

/** Returns those of a table's policies that concern a reader. @param policies all that are bound to the table, always in the same order */
export function policiesFor(principal: Principal, policies: readonly PolicyMessage[]): TablePolicies {
  if (policies.length === 0) return NO_POLICIES;
  if (isExempt(principal)) return EXEMPT;
  const digest = createHash('sha256').update(JSON.stringify(policies)).digest('hex').slice(0, 32);
  return { policies, policy_version: digest };
}
