import type { TablePolicy } from '#shared/authorization/table-policy.ts';
import { SkeinError } from '#shared/error.ts';

/** A table with the policies that stand between it and the caller. */
type Table = { readonly policies: readonly TablePolicy[] };

/** Whether the caller may see other rows or values than the table has. */
export const isPoliced = ({ policies }: Table): boolean => policies.length > 0;

/** Whether the caller may know how many rows the table has. */
export const showsFigures = ({ policies }: Table, managesPolicies: boolean): boolean =>
  policies.every(({ kind }) => managesPolicies && kind !== 'closed');

/**
 * Refuses what takes rows away, or tells of them, without a look at which of them the caller may see.
 * @param what begins the message @throws FORBIDDEN
 */
export function requireUnpoliced(table: Table, what: string, position?: number): void {
  if (!isPoliced(table)) return;
  const place = position === undefined ? {} : { position };
  throw new SkeinError('FORBIDDEN', `policies apply to the table: ${what} reaches rows that you may not see`, place);
}

/** Refuses what would write masks as data, or return raw values. @throws NOT_SUPPORTED */
export function requireUnmasked({ policies }: Table, what: string, position: number): void {
  if (policies.every(({ kind }) => kind === 'row_access')) return;
  throw new SkeinError('NOT_SUPPORTED', `a masking policy applies to the table: ${what} is not served`, { position });
}
