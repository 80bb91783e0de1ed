import { createHash } from 'node:crypto';
import type { Principal } from '#shared/authorization/principal.ts';
import { SkeinError } from '#shared/error.ts';
import type { PolicyMessage } from '#shared/authorization/table-policy.ts';
import { NO_POLICY_VERSION } from '#shared/policy/policy-version.ts';
import { THROUGH_SQL } from './decide.ts';
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

/** Whether the principal sees how many rows and bytes tables with policies have. */
export const seesFigures = (principal: Partial<Pick<Principal, 'privileges'>>): boolean =>
  isExempt(principal) || principal.privileges?.includes('MANAGE POLICIES') === true;

/**
 * Whether the principal may write a table that a bound policy reads, whose rows decide what others see. Work of the catalog's own, which
 * changes no row, has no roles.
 */
export const mayWriteMapping = ({ roles, privileges }: Partial<Pick<Principal, 'roles' | 'privileges'>>): boolean =>
  roles === undefined ||
  roles.includes(TENANT_ADMIN) ||
  privileges?.includes('MANAGE POLICIES') === true ||
  privileges?.includes(EXEMPTION) === true;

/**
 * Refuses a client of the REST API the files, the metadata and the figures of a table whose policies concern him. `FilesGate` asks by name,
 * before the operation; this is asked of the row that the operation has found, because a table may be renamed in between.
 * @throws FORBIDDEN
 */
export function requireOpenFiles(
  table: { readonly isPoliced: boolean },
  { isOfClient, claims }: { readonly isOfClient?: true; readonly claims: Partial<Pick<Principal, 'privileges'>> },
): void {
  if (isOfClient === true && table.isPoliced && !isExempt(claims)) throw new SkeinError('FORBIDDEN', THROUGH_SQL);
}

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
