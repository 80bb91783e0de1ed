import { sql } from 'kysely';
import { storedSettings, type StorageSettings } from '../../metadata/storage-settings.ts';
import { isInBucket, normalizeLocation } from '#shared/storage/location.ts';
import type { Database, Tx } from './tables.ts';

/** Storage profiles of catalogs. */

export type ProfileRow = {
  readonly catalogId: string;
  readonly catalog: string;
  readonly tenant: string;
  /** All roots in which files of the catalog may lie. */
  readonly roots: readonly string[];
  /** Another one whenever the profile has changed. */
  readonly version: number;
  readonly settings: StorageSettings;
  /** The long-lived key, sealed; null = the process finds its own. */
  readonly sealedKey: string | null;
  /** The key that readers and writers get where the store gives no temporary ones; null = none. */
  readonly sealedEngineKey: string | null;
};

export async function insertProfile(
  tx: Tx,
  catalogId: string,
  profile: Pick<ProfileRow, 'settings' | 'sealedKey' | 'sealedEngineKey'>,
): Promise<void> {
  await tx
    .insertInto('storage_profile')
    .values({
      catalog_id: catalogId,
      settings: JSON.stringify(profile.settings),
      sealed_key: profile.sealedKey,
      sealed_engine_key: profile.sealedEngineKey,
    })
    .execute();
}

/** Changes what is given. */
export async function updateProfile(
  tx: Tx,
  catalogId: string,
  change: Partial<Pick<ProfileRow, 'settings' | 'sealedKey' | 'sealedEngineKey'>>,
): Promise<void> {
  await tx
    .updateTable('storage_profile')
    .set({
      version: sql<number>`version + 1`,
      ...(change.settings === undefined ? {} : { settings: JSON.stringify(change.settings) }),
      ...(change.sealedKey === undefined ? {} : { sealed_key: change.sealedKey }),
      ...(change.sealedEngineKey === undefined ? {} : { sealed_engine_key: change.sealedEngineKey }),
    })
    .where('catalog_id', '=', catalogId)
    .execute();
}

const profiles = (db: Database) =>
  db
    .selectFrom('storage_profile as p')
    .innerJoin('catalog as c', 'c.id', 'p.catalog_id')
    .innerJoin('tenant as t', 't.id', 'c.tenant_id')
    .select([
      'p.catalog_id as catalogId',
      'c.name as catalog',
      't.name as tenant',
      sql<readonly string[]>`array_prepend(c.location, c.allowed_roots)`.as('roots'),
      'p.version',
      'p.settings',
      'p.sealed_key as sealedKey',
      'p.sealed_engine_key as sealedEngineKey',
    ]);

/** The profile of the catalog that has a root at or above a location; that of the deepest root. The location is normalised. */
export const findProfileAt = async (db: Database, location: string): Promise<ProfileRow | undefined> => {
  const found = await profiles(db)
    .innerJoinLateral(
      sql<{ root: string }>`unnest(array_prepend(c.location, c.allowed_roots))`.as<'r'>(sql`r(root)`),
      (join) => join.onTrue(),
    )
    .where(sql<boolean>`starts_with(${location} || '/', r.root || '/')`)
    .orderBy(sql`length(r.root)`, 'desc')
    .limit(1)
    .executeTakeFirst();
  return found === undefined ? undefined : asRead(found);
};

const asRead = (row: ProfileRow): ProfileRow => ({ ...row, settings: storedSettings(row.settings) });

/** The roots of all catalogs whose files lie on this machine. */
export async function listFileRoots(db: Database): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('catalog')
    .select(sql<readonly string[]>`array_prepend(location, allowed_roots)`.as('roots'))
    .execute();
  return rows.flatMap(({ roots }) => roots).filter((root) => !isInBucket(normalizeLocation(root)));
}

export async function findProfile(db: Database, catalog: string): Promise<ProfileRow | undefined> {
  const found = await profiles(db).where('c.name', '=', catalog).executeTakeFirst();
  return found === undefined ? undefined : asRead(found);
}

export const listProfiles = async (db: Database): Promise<readonly ProfileRow[]> =>
  (await profiles(db).execute()).map(asRead);
