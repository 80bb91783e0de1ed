import { SkeinError } from '#shared/error.ts';
import { must } from '#shared/must.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { isForeignKeyViolation, isUniqueViolation, nameTakenBy } from './errors.ts';
import { releaseClaims } from './folder-claims.ts';
import { LEVEL_SEPARATOR, requireNamespace, splitPath, type NamespacePath } from './namespace-store.ts';
import type { Page } from './page.ts';
import { displayIdent, tableExists, type DeletedTable, type TableIdent } from './table-store.ts';
import type { Database, Tx } from './tables.ts';

/**
 * Tables after their drop. Until `expires_at` a row can be had back; then the background work takes it: with `purge` it deletes the files,
 * without it only forgets them. A worker holds a row by moving `due_at` into the future, so one that dies gives it up by itself.
 */

export type Drop = {
  readonly by: string;
  readonly now: Date;
  /** When it can no more be had back. */
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
      dropped_at: drop.now,
      dropped_by: drop.by,
      expires_at: drop.expiresAt,
      purge: drop.purge,
      due_at: drop.expiresAt,
    })
    .execute();
}

/** A dropped table as people see it. */
export type DroppedTable = {
  readonly id: string;
  readonly namespace: NamespacePath;
  readonly name: string;
  readonly droppedAt: Date;
  readonly droppedBy: string;
  readonly expiresAt: Date;
  readonly purge: boolean;
  /** Whether the background work has given up, until an operator has it tried again. */
  readonly parked: boolean;
  readonly lastError: string | null;
};

/** In the order of their ids. */
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
 * Puts a dropped table back, inside of a transaction: the one of this id, or the last that was dropped under this name.
 * @throws TABLE_NOT_FOUND, TABLE_EXISTS, ALREADY_EXISTS for a view of the new name, SCHEMA_NOT_FOUND
 */
export async function undropTable(
  tx: Tx,
  catalogId: string,
  from: { readonly ident: TableIdent; readonly id: string | undefined; readonly now: Date },
  to: TableIdent,
): Promise<{ metadataLocation: string; metadata: string }> {
  const found = tx
    .selectFrom('dropped_table')
    .select('id')
    .where('catalog_id', '=', catalogId)
    .where('path', '=', from.ident.namespace.join(LEVEL_SEPARATOR))
    .where('name', '=', from.ident.name)
    .where('expires_at', '>', from.now)
    // Clocks differ between processes: one that the background work has taken up is lost, whatever our clock says.
    .where('attempts', '=', 0)
    .$if(from.id !== undefined, (query) => query.where('id', '=', from.id ?? ''))
    .orderBy('dropped_at', 'desc')
    .limit(1);
  const row = await tx
    .deleteFrom('dropped_table')
    .where('id', '=', found)
    // Looked at again when the background work held the row meanwhile: the query above is not.
    .where('attempts', '=', 0)
    .returning(['id', 'location', 'metadata_location as metadataLocation', 'metadata', 'version', 'created_at'])
    .executeTakeFirst();
  if (row === undefined) {
    throw new SkeinError('TABLE_NOT_FOUND', `Dropped table does not exist: ${displayIdent(from.ident)}`);
  }
  const namespace = await requireNamespace(tx, catalogId, to.namespace);
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
  return { metadataLocation: row.metadataLocation, metadata: row.metadata };
}

/** A dropped table whose time has come. */
export type DueTable = {
  readonly id: string;
  readonly roots: readonly string[];
  readonly metadataLocation: string;
  readonly metadata: string;
  readonly purge: boolean;
  /** Attempts that failed or had no end, this one included until it has one. */
  readonly failures: number;
  /** Of the last one that failed. */
  readonly lastError: string | null;
};

/** Takes a due table, for nobody else to take before `heldUntil`; undefined when there is none. */
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
    // A process that dies of it does not come to say that it failed.
    .set((set) => ({ due_at: heldUntil, attempts: set('d.attempts', '+', 1), failures: set('d.failures', '+', 1) }))
    .returning(['d.id', 'd.metadata', 'd.metadata_location as metadataLocation', 'd.purge', 'd.failures'])
    .returning('d.last_error as lastError')
    .returning(['c.location', 'c.allowed_roots as allowedRoots'])
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { location, allowedRoots, ...due } = row;
  return { ...due, roots: [location, ...allowedRoots] };
}

/** Holds a taken table for longer. */
export async function holdDue(tx: Tx, id: string, heldUntil: Date): Promise<void> {
  await tx.updateTable('dropped_table').set({ due_at: heldUntil }).where('id', '=', id).execute();
}

/** Puts off a table that failed. */
export async function putOff(tx: Tx, id: string, until: Date, error: string): Promise<void> {
  await tx.updateTable('dropped_table').set({ due_at: until, last_error: error }).where('id', '=', id).execute();
}

/** Gives up a table whose attempt was cut short, which is no failure. */
export async function giveBack(tx: Tx, id: string, now: Date): Promise<void> {
  await tx
    .updateTable('dropped_table')
    .set((set) => ({ due_at: now, failures: set('failures', '-', 1) }))
    .where('id', '=', id)
    .execute();
}

/** Sets a table aside that failed too often. */
export async function park(tx: Tx, id: string, now: Date, error: string): Promise<void> {
  await tx
    .updateTable('dropped_table')
    .set({ due_at: null, parked_at: now, last_error: error })
    .where('id', '=', id)
    .execute();
}

/** A purge that is parked, as an operator sees it. */
export type ParkedPurge = {
  readonly id: string;
  readonly tenant: string;
  readonly catalog: string;
  readonly namespace: NamespacePath;
  readonly name: string;
  readonly parkedAt: Date;
  readonly reason: string;
};

/** The longest parked first. */
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

/** Has parked tables tried again, the one of an id or all; how many there were. */
export async function unpark(tx: Tx, id: string | undefined, now: Date): Promise<number> {
  const { numUpdatedRows } = await tx
    .updateTable('dropped_table')
    .set({ due_at: now, parked_at: null, failures: 0 })
    .where('parked_at', 'is not', null)
    .$if(id !== undefined, (query) => query.where('id', '=', id ?? ''))
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}

/** The end of a dropped table, inside of a transaction: its folders are free again. */
export async function forgetDropped(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('dropped_table').where('id', '=', id).execute();
  await releaseClaims(tx, id);
}
