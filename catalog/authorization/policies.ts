import { createHash } from 'node:crypto';
import type { Principal } from '#shared/authorization/principal.ts';
import type { PolicyMessage } from '#shared/authorization/table-policy.ts';
import { NO_POLICY_VERSION } from '#shared/policy/policy-version.ts';
import { TENANT_ADMIN } from '../store/postgres/principal-store.ts';

/** The policies of a table for one reader, who must apply them; the version changes whenever one of them changes. */
export type TablePolicies = {
  readonly policies: readonly PolicyMessage[];
  readonly policy_version: string;
};

/** A table that nothing is bound to. */
export const NO_POLICIES: TablePolicies = { policies: [], policy_version: NO_POLICY_VERSION };

/** A table with policies, for those whom none of them concerns. */
const EXEMPT: TablePolicies = { policies: [], policy_version: 'exempt' };

const EXEMPTION = 'BYPASS POLICIES';

/** Whether no policy concerns the principal. Neither an administrator nor an owner is exempt by being one. */
export const isExempt = ({ privileges = [] }: Partial<Pick<Principal, 'privileges'>>): boolean =>
  privileges.includes(EXEMPTION);

/**
 * Whether the principal may write a table that a bound policy reads, whose rows decide what others see. Work of the catalog's own, which
 * changes no row, has no roles.
 */
export const mayWriteMapping = ({ roles, privileges }: Partial<Pick<Principal, 'roles' | 'privileges'>>): boolean =>
  roles === undefined ||
  roles.includes(TENANT_ADMIN) ||
  privileges?.includes('MANAGE POLICIES') === true ||
  privileges?.includes(EXEMPTION) === true;

/** Returns those of a table's policies that concern a reader. @param policies all that are bound to the table, always in the same order */
export function policiesFor(
  principal: Partial<Pick<Principal, 'privileges'>>,
  policies: readonly PolicyMessage[],
): TablePolicies {
  if (policies.length === 0) return NO_POLICIES;
  if (isExempt(principal)) return EXEMPT;
  const digest = createHash('sha256').update(JSON.stringify(policies)).digest('hex').slice(0, 32);
  return { policies, policy_version: digest };
}
