import { parseJson, printJson } from '#shared/json.ts';
import type { PlannedScan } from '../../metadata/plan-request.ts';
import type { Database, Tx } from './tables.ts';

/** Scan plans that clients may fetch later: the resolved request, with all that is needed to plan it again. */

/** Inserts a plan and deletes the table's plans that have expired or exceed its limit. */
export async function insertPlan(
  tx: Tx,
  plan: { readonly id: string; readonly tableId: string; readonly scan: PlannedScan; readonly expiresAt: Date },
  limits: { readonly countMax: number; readonly now: Date },
): Promise<void> {
  await tx
    .insertInto('scan_plan')
    .values({ id: plan.id, table_id: plan.tableId, scan: printJson(plan.scan), expires_at: plan.expiresAt })
    .execute();
  await tx
    .deleteFrom('scan_plan')
    .where('table_id', '=', plan.tableId)
    .where('id', '!=', plan.id)
    .where((where) =>
      where.or([
        where('expires_at', '<=', limits.now),
        where('expires_at', '<=', (select) =>
          select
            .selectFrom('scan_plan')
            .select('expires_at')
            .where('table_id', '=', plan.tableId)
            .orderBy('expires_at', 'desc')
            .offset(limits.countMax)
            .limit(1),
        ),
      ]),
    )
    .execute();
}

/** Finds the scan of a table's plan; undefined when there is none, or it has expired. */
export async function findPlan(db: Database, tableId: string, id: string, now: Date): Promise<PlannedScan | undefined> {
  const row = await db
    .selectFrom('scan_plan')
    .select('scan')
    .where('table_id', '=', tableId)
    .where('id', '=', id)
    .where('expires_at', '>', now)
    .executeTakeFirst();
  return row === undefined ? undefined : (parseJson(row.scan) as unknown as PlannedScan);
}

export async function deletePlan(tx: Tx, tableId: string, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('scan_plan')
    .where('table_id', '=', tableId)
    .where('id', '=', id)
    .executeTakeFirst();
  return numDeletedRows === 1n;
}
