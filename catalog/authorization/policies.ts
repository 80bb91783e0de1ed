import type { PolicyMessage } from '#shared/authorization/table-policy.ts';

/** The policies of a table, which its readers must apply; the version changes whenever one of them changes. */
type TablePolicies = {
  readonly policies: readonly (PolicyMessage & { readonly kind: 'row_access' | 'masking' })[];
  readonly policy_version: string;
};

/** No statement creates a policy, so no table has one. */
export const NO_POLICIES: TablePolicies = { policies: [], policy_version: '0' };
