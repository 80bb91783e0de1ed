import type { Pool } from 'pg';
import { sql } from 'kysely';
import type { Database, Tx } from './tables.ts';

/** The documents that tables had at a moment. */

/** A document of a table: the current one, or an earlier one. */
export type TableVersion = { readonly version: number; readonly metadataLocation: string };

/** The moment of now, as text: it sees every commit that has been acknowledged, and none that is acknowledged later. */
export async function currentMoment(pool: Pool): Promise<string> {
  const { rows } = await pool.query<{ moment: string }>({
    name: 'current-moment',
    text: 'select pg_current_snapshot()::text as moment',
  });
  return rows[0]?.moment ?? '';
}

const AT_MOMENT = `
  select v.version, v.metadata_location as "metadataLocation"
  from unnest($1::uuid[]) with ordinality as w(id, i)
  left join lateral (
    select d.version, d.metadata_location
    from (
      select version, changed_in, metadata_location from catalog.iceberg_table where id = w.id
      union all
      select version, changed_in, metadata_location from catalog.table_version where table_id = w.id
    ) d
    where d.changed_in is null or pg_visible_in_snapshot(d.changed_in, $2::pg_snapshot)
    order by d.version desc limit 1
  ) v on true
  order by w.i`;

/** The document that each table had at a moment; null for a table that was not there. */
export async function versionsAt(
  pool: Pool,
  ids: readonly string[],
  moment: string,
): Promise<readonly (TableVersion | null)[]> {
  const { rows } = await pool.query<{ version: number | null; metadataLocation: string }>({
    name: 'versions-at',
    text: AT_MOMENT,
    values: [ids, moment],
  });
  return rows.map(({ version, metadataLocation }) => (version === null ? null : { version, metadataLocation }));
}

/** Finds an earlier document of a table. */
export async function findVersion(
  db: Database,
  tableId: string,
  version: number,
): Promise<Pick<TableVersion, 'metadataLocation'> | undefined> {
  return db
    .selectFrom('table_version')
    .select('metadata_location as metadataLocation')
    .where('table_id', '=', tableId)
    .where('version', '=', version)
    .executeTakeFirst();
}

/** Forgets the documents that were replaced before this time. */
export async function forgetVersions(tx: Tx, before: Date): Promise<void> {
  await tx.deleteFrom('table_version').where('replaced_at', '<', before).execute();
}

/**
 * Transaction numbers begin anew when a database is restored from a dump, and those of the tables may be of the future then: they would be
 * unseen by every moment. What is committed before a catalog starts is seen by every moment that comes.
 */
export async function adoptRestored(db: Database): Promise<void> {
  const isOfFuture = sql<boolean>`changed_in >= pg_snapshot_xmax(pg_current_snapshot())`;
  await db.updateTable('iceberg_table').set({ changed_in: null }).where(isOfFuture).execute();
  await db.deleteFrom('table_version').where(isOfFuture).execute();
}
