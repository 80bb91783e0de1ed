import type { Principal } from '#shared/authorization/principal.ts';
import { SkeinError } from '#shared/error.ts';
import { isExempt, mayWriteMapping, policiesFor } from '../authorization/policies.ts';
import type { FieldChanges } from '../metadata/field-changes.ts';
import { findPolicyRoles, type PolicyRoles } from '../store/postgres/policy-binding-store.ts';
import { findPolicyFacts, toPolicyMessage } from '../store/postgres/policy-facts.ts';
import { findLentTable, findLentTableOf } from '../store/postgres/lent-tables.ts';
import type { Tx } from '../store/postgres/tables.ts';

/** Rules for changes of tables that have a part in policies, asked in the transaction of the change, which holds the table's row. */

type Changed = { readonly id: string; readonly claims: Partial<Pick<Principal, 'roles' | 'privileges'>> };

/**
 * The rule of a commit: it keeps the columns that policies are bound to, with their types, and those that bodies read; and whoever writes a
 * table that a bound policy reads may set what others see. @throws POLICY_IN_USE, FORBIDDEN
 */
export async function requireKeptPolicies(
  tx: Tx,
  { id, claims }: Changed,
  { lost, renamed }: FieldChanges,
): Promise<void> {
  const roles = await findPolicyRoles(tx, id);
  if (roles === undefined) return;
  if (isLent(roles) && !mayWriteMapping(claims)) {
    throw new SkeinError('FORBIDDEN', 'policies read the table: writing it needs the privilege MANAGE POLICIES');
  }
  if (lost.some((field) => roles.boundFields.includes(field))) {
    throw new SkeinError(
      'POLICY_IN_USE',
      'a policy is bound to the column: it is neither dropped nor given another type',
    );
  }
  const { lentFields } = roles;
  const isRead = (field: number): boolean => isLent(roles) && (lentFields === null || lentFields.includes(field));
  if ([...lost, ...renamed].some(isRead)) {
    throw new SkeinError(
      'POLICY_IN_USE',
      'a policy reads the column: it is neither dropped, renamed nor given another type',
    );
  }
}

/**
 * The rule of a transaction's commit: what its statements read was under the policies that the table has now.
 * @param version `LoadedTable.policy_version` as they knew it @throws COMMIT_CONFLICT
 */
export async function requirePolicyVersion(tx: Tx, { id, claims }: Changed, version: string): Promise<void> {
  const policies = (await findPolicyFacts(tx, id)).map(toPolicyMessage);
  if (policiesFor(claims, policies).policy_version === version) return;
  throw new SkeinError(
    'COMMIT_CONFLICT',
    'the policies of the table were changed meanwhile: begin the transaction again',
  );
}

/**
 * The rule of a drop. With its table a policy would go for good, and its files would stay behind, so that this is for those whom the policies
 * do not concern. @throws POLICY_IN_USE for a table that a bound policy reads, FORBIDDEN
 */
export async function requireDroppable(
  tx: Tx,
  { id, claims }: Changed,
  { isForGood }: { readonly isForGood: boolean },
): Promise<void> {
  const roles = await findPolicyRoles(tx, id);
  if (roles === undefined) return;
  if (isLent(roles)) throw lent();
  if (!isForGood || roles.boundFields.length === 0 || isExempt(claims)) return;
  throw new SkeinError(
    'FORBIDDEN',
    'policies are bound to the table: it is dropped only as long as it can be had back',
  );
}

/** @throws POLICY_IN_USE for a table that a bound policy reads by its name */
export async function requireNotLent(tx: Tx, id: string): Promise<void> {
  const roles = await findPolicyRoles(tx, id);
  if (roles !== undefined && isLent(roles)) throw lent();
}

/** The same for all tables of namespaces that get other names. @throws POLICY_IN_USE */
export async function requireNoneLent(tx: Tx, namespaces: readonly string[]): Promise<void> {
  const table = await findLentTable(tx, namespaces);
  if (table !== undefined) throw lentByName(table);
}

/** The same for all tables of a catalog. @throws POLICY_IN_USE */
export async function requireNoneLentOf(tx: Tx, catalogId: string): Promise<void> {
  const table = await findLentTableOf(tx, catalogId);
  if (table !== undefined) throw lentByName(table);
}

const lentByName = (table: string): SkeinError =>
  new SkeinError('POLICY_IN_USE', `a policy that is bound to a table reads the table ${table} by its name`);

const isLent = ({ lentFields }: PolicyRoles): boolean => lentFields === null || lentFields.length > 0;

const lent = (): SkeinError =>
  new SkeinError('POLICY_IN_USE', 'a policy that is bound to another table reads the table');
