import { sql } from 'kysely';
import { SkeinError } from '#shared/error.ts';
import { must } from '#shared/must.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { isForeignKeyViolation, isUniqueViolation, nameTakenBy } from './errors.ts';
import { releaseClaims } from './folder-claims.ts';
import {
  LEVEL_SEPARATOR,
  splitPath,
  type NamespacePath,
  displayIdent,
  type TableIdent,
} from '../../metadata/object-name.ts';
import { holdNamespace, requireNotReserved } from './namespace-store.ts';
import type { Page } from './page.ts';
import { isPoliced } from './policy-facts.ts';
import { tableExists, type DeletedTable } from './table-store.ts';
import type { Database, Tx } from './tables.ts';

/**
 * Dropped tables. Until `expires_at` a row can be restored; then the background work takes it: with `purge` it deletes the files, without
 * it it only deletes the row. A worker holds a row by moving `due_at` into the future, so the hold of a dead worker expires by itself.
 */

export type Drop = {
  readonly by: string;
  readonly now: Date;
  /** Time from which on it cannot be restored. */
  readonly expiresAt: Date;
  readonly purge: boolean;
};

export async function insertDropped(
  tx: Tx,
  place: { readonly catalogId: string; readonly ident: TableIdent },
  table: DeletedTable,
  drop: Drop,
): Promise<void> {
  await tx
    .insertInto('dropped_table')
    .values({
      id: table.id,
      catalog_id: place.catalogId,
      path: place.ident.namespace.join(LEVEL_SEPARATOR),
      name: place.ident.name,
      location: table.location,
      metadata_location: table.metadataLocation,
      metadata: table.metadata,
      version: table.version,
      created_at: table.createdAt,
      oid: table.oid,
      dropped_at: drop.now,
      dropped_by: drop.by,
      expires_at: drop.expiresAt,
      purge: drop.purge,
      due_at: drop.expiresAt,
    })
    .execute();
}

/** A dropped table for display. */
export type DroppedTable = {
  readonly id: string;
  readonly namespace: NamespacePath;
  readonly name: string;
  readonly droppedAt: Date;
  readonly droppedBy: string;
  readonly expiresAt: Date;
  readonly purge: boolean;
  /** Whether the background work has parked it, until an operator has it retried. */
  readonly parked: boolean;
  readonly lastError: string | null;
};

/** `dropped` while it can be restored, then `purging`, or `purge-failed` when the deletion of its files is parked. */
export function stateOfDropped({ parked, expiresAt }: DroppedTable, nowMs: number): string {
  if (parked) return 'purge-failed';
  return expiresAt.getTime() > nowMs ? 'dropped' : 'purging';
}

/** Lists the dropped tables of a catalog by id. */
export async function listDropped(db: Database, catalogId: string, page: Page): Promise<DroppedTable[]> {
  let query = db
    .selectFrom('dropped_table')
    .select(['id', 'path', 'name', 'dropped_at', 'dropped_by', 'expires_at', 'purge', 'parked_at', 'last_error'])
    .where('catalog_id', '=', catalogId)
    .orderBy('id');
  if (page.after !== undefined) query = query.where('id', '>', page.after);
  if (page.limit !== undefined) query = query.limit(page.limit);
  return (await query.execute()).map((row) => ({
    id: row.id,
    namespace: splitPath(row.path),
    name: row.name,
    droppedAt: row.dropped_at,
    droppedBy: row.dropped_by,
    expiresAt: row.expires_at,
    purge: row.purge,
    parked: row.parked_at !== null,
    lastError: row.last_error,
  }));
}

/**
 * Restores a dropped table, inside of a transaction: the one of this id, or the last that was dropped under this name.
 * @throws RESERVED_NAME, TABLE_NOT_FOUND, TABLE_EXISTS, ALREADY_EXISTS for a view of the new name, SCHEMA_NOT_FOUND
 */
export async function undropTable(
  tx: Tx,
  catalogId: string,
  from: { readonly ident: TableIdent; readonly id: string | undefined; readonly now: Date },
  to: TableIdent,
): Promise<{ readonly metadataLocation: string; readonly metadata: string; readonly isPoliced: boolean }> {
  const found = tx
    .selectFrom('dropped_table')
    .select('id')
    .where('catalog_id', '=', catalogId)
    .where('path', '=', from.ident.namespace.join(LEVEL_SEPARATOR))
    .where('name', '=', from.ident.name)
    .where('expires_at', '>', from.now)
    // Clocks of processes differ: a table that the background work has taken up cannot be restored, whatever this clock says.
    .where('attempts', '=', 0)
    .$if(from.id !== undefined, (query) => query.where('id', '=', from.id ?? ''))
    .orderBy('dropped_at', 'desc')
    .limit(1);
  const row = await tx
    .deleteFrom('dropped_table')
    .where('id', '=', found)
    // Repeated here: Postgres evaluates it again if the background work held the row meanwhile, but not the query above.
    .where('attempts', '=', 0)
    .returning(['id', 'location', 'metadata_location as metadataLocation', 'metadata', 'version', 'created_at', 'oid'])
    .returning(sql<boolean>`${sql.raw(isPoliced('dropped_table.id'))}`.as('isPoliced'))
    .executeTakeFirst();
  if (row === undefined) {
    throw new SkeinError('TABLE_NOT_FOUND', `Dropped table does not exist: ${displayIdent(from.ident)}`);
  }
  requireNotReserved(to.namespace);
  const namespace = await holdNamespace(tx, catalogId, to.namespace);
  try {
    await tx
      .insertInto('iceberg_table')
      .values({
        id: row.id,
        catalog_id: catalogId,
        namespace_id: namespace.id,
        name: to.name,
        name_folded: foldIdentifier(to.name),
        location: row.location,
        metadata_location: row.metadataLocation,
        metadata: row.metadata,
        version: row.version,
        created_at: row.created_at,
        ...(row.oid === null ? {} : { oid: row.oid }),
        // Whether anything has expired since, the first look says.
        expires_at: from.now,
      })
      .execute();
  } catch (error) {
    if (nameTakenBy(error) === 'view') {
      throw new SkeinError('ALREADY_EXISTS', `View with same name already exists: ${displayIdent(to)}`);
    }
    if (isUniqueViolation(error)) throw tableExists(to);
    if (isForeignKeyViolation(error)) throw new SkeinError('SCHEMA_NOT_FOUND', 'the namespace was dropped meanwhile');
    throw error;
  }
  return { metadataLocation: row.metadataLocation, metadata: row.metadata, isPoliced: row.isPoliced };
}

/** A dropped table that is due for the background work. */
export type DueTable = {
  readonly id: string;
  readonly roots: readonly string[];
  readonly metadataLocation: string;
  readonly metadata: string;
  readonly purge: boolean;
  /** Number of attempts that failed or never ended; it includes the running one. */
  readonly failures: number;
  /** Error of the last failed attempt. */
  readonly lastError: string | null;
};

/** Claims a due table: no other worker takes it before `heldUntil`. Undefined when there is none. */
export async function claimDue(tx: Tx, now: Date, heldUntil: Date): Promise<DueTable | undefined> {
  const row = await tx
    .updateTable('dropped_table as d')
    .from('catalog as c')
    .whereRef('c.id', '=', 'd.catalog_id')
    .where('d.id', '=', (due) =>
      due
        .selectFrom('dropped_table as w')
        .select('w.id')
        .where('w.due_at', '<=', now)
        .orderBy('w.due_at')
        .limit(1)
        .forUpdate()
        .skipLocked(),
    )
    // Counted in advance: a process that dies of the attempt cannot report the failure.
    .set((set) => ({ due_at: heldUntil, attempts: set('d.attempts', '+', 1), failures: set('d.failures', '+', 1) }))
    .returning(['d.id', 'd.metadata', 'd.metadata_location as metadataLocation', 'd.purge', 'd.failures'])
    .returning('d.last_error as lastError')
    .returning(['c.location', 'c.allowed_roots as allowedRoots'])
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { location, allowedRoots, ...due } = row;
  return { ...due, roots: [location, ...allowedRoots] };
}

/** Extends the hold on a claimed table. */
export async function holdDue(tx: Tx, id: string, heldUntil: Date): Promise<void> {
  await tx.updateTable('dropped_table').set({ due_at: heldUntil }).where('id', '=', id).execute();
}

/** Postpones a table whose attempt failed. */
export async function putOffPurge(tx: Tx, id: string, until: Date, error: string): Promise<void> {
  await tx.updateTable('dropped_table').set({ due_at: until, last_error: error }).where('id', '=', id).execute();
}

/** Releases a table whose attempt was interrupted, which is no failure. */
export async function giveBack(tx: Tx, id: string, now: Date): Promise<void> {
  await tx
    .updateTable('dropped_table')
    .set((set) => ({ due_at: now, failures: set('failures', '-', 1) }))
    .where('id', '=', id)
    .execute();
}

/** Parks a table that failed too often. */
export async function park(tx: Tx, id: string, now: Date, error: string): Promise<void> {
  await tx
    .updateTable('dropped_table')
    .set({ due_at: null, parked_at: now, last_error: error })
    .where('id', '=', id)
    .execute();
}

/** A parked purge, for display to an operator. */
export type ParkedPurge = {
  readonly id: string;
  readonly tenant: string;
  readonly catalog: string;
  readonly namespace: NamespacePath;
  readonly name: string;
  readonly parkedAt: Date;
  readonly reason: string;
};

/** Lists parked purges, the longest parked first. */
export async function listParked(db: Database, limit: number): Promise<ParkedPurge[]> {
  const rows = await db
    .selectFrom('dropped_table as d')
    .innerJoin('catalog as c', 'c.id', 'd.catalog_id')
    .innerJoin('tenant as t', 't.id', 'c.tenant_id')
    .select(['d.id', 'd.path', 'd.name', 'd.parked_at as parkedAt', 'd.last_error as reason'])
    .select(['c.name as catalog', 't.name as tenant'])
    .where('d.parked_at', 'is not', null)
    .orderBy('d.parked_at')
    .orderBy('d.id')
    .limit(limit)
    .execute();
  return rows.map(({ path, parkedAt, reason, ...row }) => ({
    ...row,
    namespace: splitPath(path),
    parkedAt: must(parkedAt, 'parked rows were selected'),
    reason: reason ?? '',
  }));
}

export async function countParked(db: Database): Promise<number> {
  const { count } = await db
    .selectFrom('dropped_table')
    .select((select) => select.fn.countAll<string>().as('count'))
    .where('parked_at', 'is not', null)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Unparks one table by id, or all; returns how many there were. */
export async function unpark(tx: Tx, id: string | undefined, now: Date): Promise<number> {
  const { numUpdatedRows } = await tx
    .updateTable('dropped_table')
    .set({ due_at: now, parked_at: null, failures: 0 })
    .where('parked_at', 'is not', null)
    .$if(id !== undefined, (query) => query.where('id', '=', id ?? ''))
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}

/** Deletes a dropped table's row and releases its folders, inside of a transaction. */
export async function forgetDroppedTable(tx: Tx, id: string): Promise<void> {
  const row = await tx
    .deleteFrom('dropped_table')
    .where('id', '=', id)
    .returning(sql<string>`left(metadata, 1000)`.as('beginning'))
    .executeTakeFirst();
  await releaseClaims(tx, id, row?.beginning ?? '');
}
