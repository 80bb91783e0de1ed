import type { Database, Tx } from './tables.ts';

/** The rows of tenants, but for what makes and drops them (`catalog-store.ts`). */

/** Whether there is a tenant: a first start has happened. */
export async function hasTenant(db: Database): Promise<boolean> {
  return (await db.selectFrom('tenant').select('id').limit(1).executeTakeFirst()) !== undefined;
}

/** Whether who signs in must say to which tenant he belongs. */
export async function hasSeveralTenants(db: Database): Promise<boolean> {
  return (await db.selectFrom('tenant').select('id').limit(2).execute()).length > 1;
}

/** Locks the principals of a tenant until the transaction ends: changes to them run one after the other. */
export async function lockPrincipalsOf(
  tx: Tx,
  tenant: { readonly name: string } | { readonly id: string },
): Promise<void> {
  const tenants = tx.selectFrom('tenant').select('id').forNoKeyUpdate();
  await (
    'id' in tenant ? tenants.where('id', '=', tenant.id) : tenants.where('name', '=', tenant.name)
  ).executeTakeFirst();
}

export async function findPasswordPolicy(
  db: Database,
  tenantId: string,
): Promise<{ readonly minLength: number; readonly classes: number; readonly history: number }> {
  const row = await db
    .selectFrom('tenant')
    .select(['password_min_length', 'password_classes', 'password_history'])
    .where('id', '=', tenantId)
    .executeTakeFirstOrThrow();
  return { minLength: row.password_min_length, classes: row.password_classes, history: row.password_history };
}
