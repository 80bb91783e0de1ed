import { randomUUID } from 'node:crypto';
import { CompiledQuery } from 'kysely';
import type { Pool } from 'pg';
import type { Database, Tx } from './tables.ts';
import { transact } from './transact.ts';

/** The changes of what lists show, which triggers note (`list-changes-migration.ts`). */

/** A state of a catalog's lists, which sees each transaction or does not. */
export type ListMark = {
  readonly era: string;
  readonly catalogId: string;
  /** As `pg_current_snapshot` has it. */
  readonly snapshot: string;
};

type ListChanges = {
  readonly mark: ListMark;
  /** Null when the changes are not known, or too many. */
  readonly changed: { readonly relations: readonly string[]; readonly hasNamespaces: boolean } | null;
};

/**
 * A transaction that the mark does not see has noted its changes if it is over by now, whenever it began: `pg_visible_in_snapshot` knows. The
 * relations of both sides of a place count as changed, by what stands there now.
 */
const CHANGES = `
  with kept as (
    select era, pg_current_snapshot()::text as snapshot,
      coalesce(era = $2::uuid and pg_snapshot_xmin($3::pg_snapshot) > forgotten_upto, false) as is_known
    from catalog.list_change_era
  ), changed as materialized (
    select distinct object_id, is_namespace, place_namespace_id, place_name from catalog.list_change
    where catalog_id = $1 and changed_in >= pg_snapshot_xmin($3::pg_snapshot)
      and not pg_visible_in_snapshot(changed_in, $3::pg_snapshot)
    limit $4
  )
  select era, snapshot, is_known and (select count(*) from changed) < $4 as "isKnown",
    exists (select from changed where is_namespace) as "hasNamespaces",
    array(
      select object_id from changed where not is_namespace
      union select t.id from changed c
        join catalog.iceberg_table t on t.namespace_id = c.place_namespace_id and t.name = c.place_name
      union select v.id from changed c
        join catalog.iceberg_view v on v.storage_namespace_id = c.place_namespace_id and v.storage_name = c.place_name
    ) as relations
  from kept`;

type Row = {
  readonly era: string;
  readonly snapshot: string;
  readonly isKnown: boolean;
  readonly hasNamespaces: boolean;
  readonly relations: readonly string[];
};

/** @param most so many changes are too many */
export async function listChanges(
  pool: Pool,
  { catalogId, since, most }: { readonly catalogId: string; readonly since: ListMark | null; readonly most: number },
): Promise<ListChanges> {
  const ofCatalog = since?.catalogId === catalogId ? since : null;
  const { rows } = await pool.query<Row>({
    name: 'list-changes',
    text: CHANGES,
    values: [catalogId, ofCatalog?.era ?? null, ofCatalog?.snapshot ?? null, most],
  });
  const [row] = rows;
  // Without its row nothing is known of any mark.
  if (row === undefined) throw new Error('invariant: the changes of lists have an era');
  const { era, snapshot, isKnown, hasNamespaces, relations } = row;
  return { mark: { era, catalogId, snapshot }, changed: isKnown ? { relations, hasNamespaces } : null };
}

const FORGET = `
  with forgotten as (
    delete from catalog.list_change where changed_at < $1 returning changed_in
  ), last as (
    select changed_in from forgotten order by changed_in desc limit 1
  )
  update catalog.list_change_era e set forgotten_upto = last.changed_in from last where e.forgotten_upto < last.changed_in`;

/** Forgets the changes from before a time; marks that do not see them are worth nothing from then on. */
export async function forgetChanges(tx: Tx, before: Date): Promise<void> {
  await tx.executeQuery(CompiledQuery.raw(FORGET, [before]));
}

/**
 * All marks that were given are worth nothing any more. A database that was restored counts its transactions anew, and cannot tell that it
 * was: every start of a catalog begins another era.
 */
export async function beginEra(db: Database): Promise<void> {
  await transact(db, async (tx) => {
    await tx.executeQuery(CompiledQuery.raw('delete from catalog.list_change'));
    await tx.executeQuery(
      CompiledQuery.raw(`update catalog.list_change_era set era = $1, forgotten_upto = '0'`, [randomUUID()]),
    );
  });
}
