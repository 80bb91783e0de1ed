import type { TablePolicy } from '#shared/authorization/table-policy.ts';
import { SkeinError } from '#shared/error.ts';
import { unreachable } from '#shared/must.ts';

/**
 * The row-access and masking policies that the catalog names for a table and its reader. A plan that was made with them holds for no other
 * version, and, unless there are none, for no other principal.
 */
export type TablePolicies = { readonly version: string; readonly policies: readonly TablePolicy[] };

/** The rows of a statement need no policies: they hold only what the caller may see. */
export const NO_POLICIES: TablePolicies = { version: 'none', policies: [] };

/**
 * Refuses rows of a table that has a policy, because no reader applies any yet.
 * @param title names the table in the message @throws NOT_SUPPORTED
 */
export function requireApplicable(policies: readonly TablePolicy[], title: string): void {
  for (const policy of policies) {
    switch (policy.kind) {
      case 'row_access':
      case 'masking':
      case 'unknown':
        throw new SkeinError('NOT_SUPPORTED', `table ${title} has policies that this coordinator cannot apply`);
      default:
        unreachable(policy);
    }
  }
}

/** Whether a policy keeps values of rows from the reader, which metadata of files would show: bounds, values of partitions. */
export function hidesValues(policy: TablePolicy): boolean {
  switch (policy.kind) {
    case 'row_access':
    case 'masking':
    case 'unknown':
      return true;
    default:
      return unreachable(policy);
  }
}
