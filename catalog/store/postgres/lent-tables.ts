import { sql, type RawBuilder } from 'kysely';
import type { Tx } from './tables.ts';

/** Tables that the bodies of bound policies read by their names. */

/** One of these namespaces; undefined = there is none. */
export const findLentTable = (tx: Tx, namespaces: readonly string[]): Promise<string | undefined> =>
  findLent(tx, sql`t.namespace_id = any(${namespaces}::uuid[])`);

/** One of a catalog. */
export const findLentTableOf = (tx: Tx, catalogId: string): Promise<string | undefined> =>
  findLent(tx, sql`t.catalog_id = ${catalogId}`);

async function findLent(tx: Tx, place: RawBuilder<unknown>): Promise<string | undefined> {
  const { rows } = await sql<{ readonly name: string }>`
    select m.name from catalog.policy_mapping m
    join catalog.iceberg_table t on t.id = m.table_id
    where ${place} and exists (select from catalog.policy_binding b where b.policy_id = m.policy_id)
    order by m.name limit 1`.execute(tx);
  return rows[0]?.name;
}
