import { CompiledQuery, sql } from 'kysely';
import type { PrincipalId, TenantId } from '#shared/id.ts';
import { SkeinError } from '#shared/error.ts';
import { withAncestors } from '#shared/storage/location.ts';
import { splitPath, type TableIdent } from '../../metadata/object-name.ts';
import type { Database, Tx } from './tables.ts';

/**
 * Records which folders belong to which table. A table claims every folder that it has or had, until the table and its files are gone. So
 * no two tables ever share a path, and a purge deletes no other table's files. Then the folder is free when the last key has ended that a
 * client was given for it, and at once to the one principal who has all of them. Locations here are normalised.
 */

/** Maximum number of folders of one table, former ones included. */
const CLAIMS_MAX = 200;

/**
 * Serialises decisions over the locations of one tenant until the transaction ends. A location that a client chose takes the lock
 * exclusively, because it is compared with all others and none may appear meanwhile. The catalog's own locations are unique and take it
 * shared.
 */
export async function lockLocations(tx: Tx, catalogId: string, mode: 'exclusive' | 'shared'): Promise<void> {
  const lock = mode === 'shared' ? sql`pg_advisory_xact_lock_shared` : sql`pg_advisory_xact_lock`;
  await sql`select ${lock}(hashtextextended('locations ' || tenant_id::text, 0)) from ${sql.table('catalog.catalog')}
    where id = ${catalogId}`.execute(tx);
}

type Owner = { readonly id: string; readonly catalogId: string };

/** Stands for two principals or more in `keys_holder`. */
const SEVERAL = '';

/**
 * Claims folders for a table that has its row; the caller holds the lock.
 * @throws INVALID_REQUEST when one of them overlaps another table's, or a former one's to which another principal than the maker has a key or
 * that is closed, which an exempt maker opens
 */
export async function claimFolders(
  tx: Tx,
  owner: Owner & { readonly maker: PrincipalId; readonly isExempt: boolean },
  folders: readonly string[],
): Promise<void> {
  if (owner.isExempt) await openFolders(tx, folders);
  await requireFree(tx, folders, owner.id);
  await requireUnopened(tx, folders, { maker: owner.maker, ownerId: owner.id });
  await requireNotClosed(tx, folders);
  await tx
    .insertInto('folder_claim')
    .values(folders.map((location) => ({ location, owner_id: owner.id, catalog_id: owner.catalogId })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const { count } = await tx
    .selectFrom('folder_claim')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('owner_id', '=', owner.id)
    .executeTakeFirstOrThrow();
  if (Number(count) > CLAIMS_MAX) {
    throw new SkeinError('INVALID_REQUEST', `a table cannot have had more than ${CLAIMS_MAX} locations`);
  }
}

/** @throws INVALID_REQUEST when a table other than `ownerId` has a folder at, above or below one of these. */
export async function requireFree(
  db: Database,
  folders: readonly string[],
  ownerId: string | undefined,
): Promise<void> {
  for (const folder of folders) {
    if (await isFree(db, folder, ownerId)) continue;
    throw new SkeinError('INVALID_REQUEST', `Location ${folder} overlaps the location of another table`);
  }
}

/**
 * Checks that nobody but the maker of a table has a key to folders of a table that is gone. The same table may have them again: it is
 * registered anew. @param ownerId undefined = the table has no row yet
 * @throws INVALID_REQUEST
 */
export async function requireUnopened(
  db: Database,
  folders: readonly string[],
  { maker, ownerId }: { readonly maker: PrincipalId; readonly ownerId?: string },
): Promise<void> {
  for (const folder of folders) {
    let query = claimsAround(db, folder)
      .select('keys_until')
      .where('former_uuid', 'is not', null)
      .where('keys_until', '>', sql<Date>`now()`)
      .where((is) => is.or([is('keys_holder', 'is', null), is('keys_holder', '!=', maker)]))
      .orderBy('keys_until', 'desc');
    if (ownerId !== undefined) query = query.where('former_uuid', '!=', uuidOf(ownerId));
    const found = await query.executeTakeFirst();
    if (found === undefined) continue;
    const until = found.keys_until?.toISOString() ?? '';
    throw new SkeinError(
      'INVALID_REQUEST',
      `Location ${folder} belonged to a table that is gone, and keys to its files end at ${until} only: choose another, or wait`,
    );
  }
}

/** Checks that no table with policies has left a folder at, above or below these. @throws INVALID_REQUEST */
export async function requireNotClosed(db: Database, folders: readonly string[]): Promise<void> {
  for (const folder of folders) {
    const closed = claimsAround(db, folder).select('owner_id').where('former_uuid', 'is not', null);
    if ((await closed.where('is_policed', '=', true).executeTakeFirst()) === undefined) continue;
    throw new SkeinError('INVALID_REQUEST', `Location ${folder} belonged to a table with policies: choose another`);
  }
}

/** Whether a table with policies, of any tenant, has a folder at or below this one, or has left one there. */
export async function hasClosedBelow(db: Database, folder: string): Promise<boolean> {
  const found = await db
    .selectFrom('folder_claim')
    .select('owner_id')
    .where('is_policed', '=', true)
    .where('location', '>=', folder)
    .where('location', '<', `${folder}0`)
    .where((is) => is.or([is('location', '=', folder), is('location', '>=', `${folder}/`)]))
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

/** Opens closed folders at or below these: they are as those of any table that is gone. */
async function openFolders(tx: Tx, folders: readonly string[]): Promise<void> {
  for (const folder of folders) {
    await tx
      .updateTable('folder_claim')
      .set({ is_policed: false })
      .where('former_uuid', 'is not', null)
      .where('is_policed', '=', true)
      .where((is) =>
        is.or([
          is('location', '=', folder),
          is.and([is('location', '>=', `${folder}/`), is('location', '<', `${folder}0`)]),
        ]),
      )
      .execute();
  }
}

/**
 * The folders of tables with policies of the tenant of a table, but its own: nobody whom they concern reads below these by that table. Sorted,
 * so that keys of caches are the same; one more than `max` when there are more.
 */
export async function listClosed(db: Database, tableId: string, max: number): Promise<readonly string[]> {
  const { rows } = await db.executeQuery<{ readonly folders: readonly string[] }>(
    CompiledQuery.raw(
      `select ${closedFolders('t.id', 'c.tenant_id', max)} as folders
       from catalog.iceberg_table t join catalog.catalog c on c.id = t.catalog_id where t.id = $1`,
      [tableId],
    ),
  );
  return rows[0]?.folders ?? [];
}

/** The same as SQL for one column. */
export const closedFolders = (tableId: string, tenantId: string, max: number): string => `array(
  select f.location from catalog.folder_claim f
  where f.is_policed and f.owner_id <> ${tableId}
    and f.catalog_id = any(array(select k.id from catalog.catalog k where k.tenant_id = ${tenantId}))
  order by f.location limit ${max + 1})`;

/** Forgets the closed folders of a catalog that goes, to which nobody has a key. */
export async function forgetClosed(tx: Tx, catalog: string): Promise<void> {
  await tx
    .deleteFrom('folder_claim')
    .where('catalog_id', '=', (of) => of.selectFrom('catalog').select('id').where('name', '=', catalog))
    .where('former_uuid', 'is not', null)
    .where('is_policed', '=', true)
    .where((is) => is.or([is('keys_until', 'is', null), is('keys_until', '<=', sql<Date>`now()`)]))
    .execute();
}

/** The `table-uuid` of a table; it stands near the beginning of each document. */
const uuidOf = (ownerId: string) =>
  sql<string>`coalesce((select substring(left(t.metadata, ${UUID_WITHIN}) from ${UUID_PATTERN.source}) from catalog.iceberg_table t where t.id = ${ownerId}), '')`;

const UUID_WITHIN = 1_000;
const UUID_PATTERN = /"table-uuid":"([0-9a-f-]{36})"/;

/** Whether no table other than `ownerId` has a folder at, above or below this one. */
export async function isFree(db: Database, folder: string, ownerId: string | undefined): Promise<boolean> {
  let query = claimsAround(db, folder).select('owner_id').where('former_uuid', 'is', null);
  if (ownerId !== undefined) query = query.where('owner_id', '!=', ownerId);
  return (await query.executeTakeFirst()) === undefined;
}

/** A claim of a folder at, above or below this one. */
const claimsAround = (db: Database, folder: string) =>
  db
    .selectFrom('folder_claim')
    .where((where) =>
      where.or([
        where('location', 'in', withAncestors(folder)),
        // Everything below: '0' is the character after '/'.
        where.and([where('location', '>=', `${folder}/`), where('location', '<', `${folder}0`)]),
      ]),
    )
    .limit(1);

export async function listClaims(db: Database, ownerId: string): Promise<string[]> {
  const rows = await db.selectFrom('folder_claim').select('location').where('owner_id', '=', ownerId).execute();
  return rows.map(({ location }) => location);
}

/** The folders of a table of a tenant. */
export async function listClaimsOf(db: Database, tenant: TenantId, ownerId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('folder_claim as f')
    .innerJoin('catalog as c', 'c.id', 'f.catalog_id')
    .innerJoin('tenant as t', 't.id', 'c.tenant_id')
    .select('f.location')
    .where('f.owner_id', '=', ownerId)
    .where('t.name', '=', tenant)
    .execute();
  return rows.map(({ location }) => location);
}

/**
 * Keeps until when a key opens the folders of a table, and who has it. It is called before the key is given, so that a drop meanwhile knows it.
 * @returns whether the table has its folders still
 */
export async function keepKeys(
  db: Database,
  ownerId: string,
  { holder, untilMs }: { readonly holder: PrincipalId; readonly untilMs: number },
): Promise<boolean> {
  const until = new Date(untilMs);
  await db
    .updateTable('folder_claim')
    .set({
      keys_until: sql`greatest(keys_until, ${until})`,
      keys_holder: sql`case when coalesce(keys_until, now()) <= now() or keys_holder = ${holder} then ${holder} else ${SEVERAL} end`,
    })
    .where('owner_id', '=', ownerId)
    .where('former_uuid', 'is', null)
    .where((is) =>
      is.or([
        is('keys_until', 'is', null),
        is('keys_until', '<', until),
        is('keys_holder', 'is', null),
        is('keys_holder', 'not in', [holder, SEVERAL]),
      ]),
    )
    .execute();
  const left = db.selectFrom('folder_claim').select('owner_id').where('owner_id', '=', ownerId);
  return (await left.where('former_uuid', 'is', null).limit(1).executeTakeFirst()) !== undefined;
}

/**
 * Releases the folders of a table that is gone: each is free when no key opens it, unless the table has policies, which go with it while its
 * files may stay. @param metadata the table's last document, or its beginning */
export async function releaseClaims(tx: Tx, ownerId: string, metadata: string): Promise<void> {
  const uuid = UUID_PATTERN.exec(metadata.slice(0, UUID_WITHIN))?.[1] ?? ownerId;
  await tx.updateTable('folder_claim').set({ former_uuid: uuid }).where('owner_id', '=', ownerId).execute();
  await deleteFree(tx, ownerId);
}

/** Forgets folders of tables that are gone whose last keys have ended. */
export const forgetFolders = (tx: Tx): Promise<void> => deleteFree(tx);

async function deleteFree(tx: Tx, ownerId?: string): Promise<void> {
  let query = tx
    .deleteFrom('folder_claim')
    .where('former_uuid', 'is not', null)
    .where('is_policed', '=', false)
    .where((is) => is.or([is('keys_until', 'is', null), is('keys_until', '<=', sql<Date>`now()`)]));
  if (ownerId !== undefined) query = query.where('owner_id', '=', ownerId);
  await query.execute();
}

const OWNER_AT = `
  select c.name as catalog, n.path, t.name
  from catalog.folder_claim f
  join catalog.iceberg_table t on t.id = f.owner_id
  join catalog.namespace n on n.id = t.namespace_id
  join catalog.catalog c on c.id = n.catalog_id
  join catalog.tenant o on o.id = c.tenant_id
  where o.name = $1 and f.location = any($2::text[])
  order by length(f.location) desc limit 1`;

/** The table of a tenant whose folder is the longest at or above a location. */
export async function findTableAt(
  db: Database,
  tenant: TenantId,
  location: string,
): Promise<{ readonly catalog: string; readonly ident: TableIdent } | undefined> {
  type Found = { readonly catalog: string; readonly path: string; readonly name: string };
  const { rows } = await db.executeQuery<Found>(CompiledQuery.raw(OWNER_AT, [tenant, withAncestors(location)]));
  const [row] = rows;
  return row && { catalog: row.catalog, ident: { namespace: splitPath(row.path), name: row.name } };
}

/** All folders of the tables that claim one of these. */
export async function claimsBeside(db: Database, folders: readonly string[]): Promise<string[]> {
  const owners = db
    .selectFrom('folder_claim')
    .select('owner_id')
    .where('location', 'in', folders)
    .where('former_uuid', 'is', null);
  const rows = await db.selectFrom('folder_claim').select('location').where('owner_id', 'in', owners).execute();
  return rows.map(({ location }) => location);
}
