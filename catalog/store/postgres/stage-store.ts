import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { SkeinError } from '#shared/error.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import type { Properties } from '../../metadata/table-document.ts';
import { stageFolder } from '#shared/stage/stage-folders.ts';
import type { CatalogRow } from './catalog-store.ts';
import { isForeignKeyViolation, isUniqueViolation } from './errors.ts';
import { namespaceNotFound, requireNotReserved } from './namespace-store.ts';
import { splitPath, type NamespacePath, displayIdent, type TableIdent } from '../../metadata/object-name.ts';
import type { Page } from './page.ts';
import type { Database, Tx } from './tables.ts';

/** Stages. Names are compared without case. */

export type StageRow = {
  readonly id: string;
  readonly catalog: string;
  /** Empty for a principal's own. */
  readonly namespace: NamespacePath;
  readonly name: string;
  readonly location: string;
  readonly properties: Properties;
  readonly createdAt: Date;
};

export function stageNotFound(what: string): never {
  throw new SkeinError('STAGE_NOT_FOUND', `Stage does not exist: ${what}`);
}

/** @throws RESERVED_NAME, ALREADY_EXISTS; SCHEMA_NOT_FOUND when the namespace went meanwhile */
export async function insertStage(
  tx: Tx,
  stage: {
    readonly catalog: Pick<CatalogRow, 'id' | 'location'>;
    readonly namespaceId: string;
    readonly ident: TableIdent;
    readonly properties: Properties;
  },
): Promise<void> {
  const { catalog, namespaceId, ident, properties } = stage;
  requireNotReserved(ident.namespace);
  const id = randomUUID();
  try {
    await tx
      .insertInto('stage')
      .values({
        id,
        catalog_id: catalog.id,
        namespace_id: namespaceId,
        principal_id: null,
        name: ident.name,
        name_folded: foldIdentifier(ident.name),
        location: stageFolder(catalog.location, id),
        properties: JSON.stringify(properties),
      })
      .execute();
  } catch (error) {
    throw placeError(error, ident);
  }
}

/** Takes the stage from its namespace; the background work deletes its files. False when there is none of the name. */
export async function dropStage(tx: Tx, namespaceId: string, name: string): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('stage')
    .set({ namespace_id: null })
    .where('namespace_id', '=', namespaceId)
    .where('name_folded', '=', foldIdentifier(name))
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/**
 * Gives a stage another name, also in another namespace of its catalog. Whether there was one of the name: of two renames at once one
 * succeeds. @throws RESERVED_NAME, ALREADY_EXISTS; SCHEMA_NOT_FOUND when the namespace went meanwhile
 */
export async function moveStage(
  tx: Tx,
  from: { readonly namespaceId: string; readonly name: string },
  { namespaceId, to }: { readonly namespaceId: string; readonly to: TableIdent },
): Promise<boolean> {
  requireNotReserved(to.namespace);
  try {
    const { numUpdatedRows } = await tx
      .updateTable('stage')
      .set({ namespace_id: namespaceId, name: to.name, name_folded: foldIdentifier(to.name) })
      .where('namespace_id', '=', from.namespaceId)
      .where('name_folded', '=', foldIdentifier(from.name))
      .executeTakeFirst();
    return numUpdatedRows === 1n;
  } catch (error) {
    throw placeError(error, to);
  }
}

/** The error of a stage whose place is taken, or is gone. */
function placeError(error: unknown, ident: TableIdent): unknown {
  if (isUniqueViolation(error)) {
    return new SkeinError('ALREADY_EXISTS', `Stage already exists: ${displayIdent(ident)}`, { cause: error });
  }
  if (isForeignKeyViolation(error)) namespaceNotFound(ident.namespace);
  return error;
}

const stages = (db: Database, tenant: string) =>
  db
    .selectFrom('stage as s')
    .innerJoin('catalog as c', 'c.id', 's.catalog_id')
    .innerJoin('tenant as t', 't.id', 'c.tenant_id')
    .leftJoin('namespace as n', 'n.id', 's.namespace_id')
    .select([
      's.id',
      'c.name as catalog',
      'n.path',
      's.name',
      's.location',
      's.properties',
      's.created_at as createdAt',
    ])
    .where('t.name', '=', tenant);

const toStage = ({ path, ...row }: Omit<StageRow, 'namespace'> & { readonly path: string | null }): StageRow => ({
  ...row,
  namespace: path === null ? [] : splitPath(path),
});

/** @throws STAGE_NOT_FOUND */
export async function requireStage(
  db: Database,
  tenant: string,
  { namespaceId, ident }: { readonly namespaceId: string; readonly ident: TableIdent },
): Promise<StageRow> {
  const row = await stages(db, tenant)
    .where('s.namespace_id', '=', namespaceId)
    .where('s.name_folded', '=', foldIdentifier(ident.name))
    .executeTakeFirst();
  return row === undefined ? stageNotFound(displayIdent(ident)) : toStage(row);
}

/** A stage by its id: one of a namespace of the tenant, or the principal's own. @throws STAGE_NOT_FOUND */
export async function requireStageById(
  db: Database,
  { tenant, principalId }: { readonly tenant: string; readonly principalId: string },
  id: string,
): Promise<StageRow> {
  const row = await stages(db, tenant)
    .where('s.id', '=', id)
    .where((is) => is.or([is('s.namespace_id', 'is not', null), is('s.principal_id', '=', principalId)]))
    .executeTakeFirst();
  return row === undefined ? stageNotFound(id) : toStage(row);
}

/** The principal's own stage, which is made in `catalog` when there is none; another catalog's is found, too. */
export async function ownStage(
  db: Database,
  { tenant, principalId }: { readonly tenant: string; readonly principalId: string },
  catalog: () => Promise<Pick<CatalogRow, 'id' | 'location'>>,
): Promise<StageRow> {
  const find = () => stages(db, tenant).where('s.principal_id', '=', principalId).executeTakeFirst();
  const found = await find();
  if (found !== undefined) return toStage(found);
  const { id: catalogId, location } = await catalog();
  const id = randomUUID();
  // One of a catalog that was dropped is nobody's any more.
  await db
    .updateTable('stage')
    .set({ principal_id: null })
    .where('principal_id', '=', principalId)
    .where('catalog_id', 'is', null)
    .execute();
  await db
    .insertInto('stage')
    .values({
      id,
      catalog_id: catalogId,
      namespace_id: null,
      principal_id: principalId,
      name: '',
      name_folded: '',
      location: stageFolder(location, id),
      properties: '{}',
    })
    .onConflict((conflict) => conflict.column('principal_id').doNothing())
    .execute();
  const made = await find();
  return made === undefined ? stageNotFound('~') : toStage(made);
}

/** The stages of a namespace, by name. */
export async function listStages(db: Database, tenant: string, namespaceId: string, page: Page): Promise<StageRow[]> {
  let query = stages(db, tenant).where('s.namespace_id', '=', namespaceId).orderBy('s.name');
  if (page.after !== undefined) query = query.where('s.name', '>', page.after);
  if (page.limit !== undefined) query = query.limit(page.limit);
  return (await query.execute()).map(toStage);
}

/** Keeps the time until which a key may write into a stage. */
export async function keepKey(db: Database, id: string, untilMs: number): Promise<void> {
  const until = new Date(untilMs);
  await db
    .updateTable('stage')
    .set({ keys_until: until })
    .where('id', '=', id)
    .where((is) => is.or([is('keys_until', 'is', null), is('keys_until', '<', until)]))
    .execute();
}

/** A stage that nobody has any more, and into which no upload comes. */
export type DroppedStage = {
  readonly id: string;
  readonly location: string;
  /** Until then a client may put files into it all the same; null = none can. */
  readonly keysUntil: Date | null;
};

/** @param after the id of the last one of the page before */
export async function listDroppedStages(db: Database, after: string, limit: number): Promise<readonly DroppedStage[]> {
  return db
    .selectFrom('stage as s')
    .select(['s.id', 's.location', 's.keys_until as keysUntil'])
    .where(
      sql<boolean>`(s.catalog_id is null or (s.namespace_id is null and s.principal_id is null))
        and not exists (select from catalog.stage_upload u where u.stage_id = s.id)`,
    )
    .where('s.id', '>', after)
    .orderBy('s.id')
    .limit(limit)
    .execute();
}

export async function forgetStage(db: Database, id: string): Promise<void> {
  await db.deleteFrom('stage').where('id', '=', id).execute();
}
