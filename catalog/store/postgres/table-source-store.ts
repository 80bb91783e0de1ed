import { sql } from 'kysely';
import { must } from '#shared/must.ts';
import type { Tx } from './tables.ts';
import type { StoragePlace } from './view-store.ts';

/**
 * Adds the tables that the rows of a materialized view were made of to those that its table has, and those that they were made of, so that a
 * view over views has all of them. They are locked: who binds a policy to one of them meanwhile sees the view, or is seen.
 */
export async function keepSources(tx: Tx, storage: StoragePlace | null, sources: readonly string[]): Promise<void> {
  if (sources.length === 0) return;
  const { namespaceId, ident } = must(storage, 'rows of a view have a table');
  const ids = sql`${sql.val([...sources])}::uuid[]`;
  await sql`select from catalog.iceberg_table where id = any(${ids}) order by id for share`.execute(tx);
  await sql`
    insert into catalog.table_source (table_id, source_id)
    select t.id, s.id from catalog.iceberg_table t, (
      select unnest(${ids}) as id
      union select o.source_id from catalog.table_source o where o.table_id = any(${ids})
    ) s
    where t.namespace_id = ${namespaceId} and t.name = ${ident.name} and s.id <> t.id
    on conflict do nothing`.execute(tx);
}
