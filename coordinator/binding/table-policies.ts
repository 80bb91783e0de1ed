import type { TablePolicy } from '#shared/authorization/table-policy.ts';
import { SkeinError } from '#shared/error.ts';

/**
 * The row-access and masking policies that the catalog names for a table and its reader. A plan that was made with them holds for no other
 * version, and, unless there are none, for no other principal.
 */
export type TablePolicies = { readonly version: string; readonly policies: readonly TablePolicy[] };

/** The rows of a statement need no policies: they hold only what the caller may see. */
export const NO_POLICIES: TablePolicies = { version: 'none', policies: [] };

/** Policies of the kinds that this release applies. */
export type KnownPolicy = Exclude<TablePolicy, { kind: 'unknown' | 'closed' }>;

/**
 * @param title names the table in the message @throws NOT_SUPPORTED for a policy that a newer catalog has sent, FORBIDDEN for a table that is
 * closed
 */
export function knownPolicies(policies: readonly TablePolicy[], title: string): readonly KnownPolicy[] {
  return policies.map((policy) => {
    if (policy.kind === 'closed') throw closed(title);
    if (policy.kind !== 'unknown') return policy;
    throw new SkeinError('NOT_SUPPORTED', `table ${title} has policies that this coordinator cannot apply`);
  });
}

/** @throws FORBIDDEN for a table whose rows were made of tables with policies that concern the reader */
export function requireNotClosed(policies: readonly TablePolicy[], title: string): void {
  if (policies.some(({ kind }) => kind === 'closed')) throw closed(title);
}

const closed = (title: string): SkeinError =>
  new SkeinError(
    'FORBIDDEN',
    `policies apply to tables that the rows of ${title} were made of: only who is exempt reads it`,
  );
