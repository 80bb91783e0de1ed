import { sql } from 'kysely';
import { SkeinError } from '#shared/error.ts';
import { isOfStages } from '#shared/stage/stage-folders.ts';
import { isWithin, requireNoEscape } from '#shared/storage/location.ts';
import type { Database, Tx } from './tables.ts';

/**
 * Roots of catalogs and the tenants that own them. A tenant keeps a root even when none of its catalogs has it any more: dropping a catalog
 * deletes no file, and a new owner of the folder could register the tables that lie there. Only the operator gives a root to another
 * tenant. Roots here are normalised.
 */

/** Key of the advisory lock that serialises comparing roots and adding one. */
const ROOTS_LOCK = 5_324_002;

export type WantedRoots = {
  readonly tenantId: string;
  /** Name of the catalog, for error messages. */
  readonly catalog: string;
  readonly roots: readonly string[];
  /** A place in a storage profile belongs to one catalog alone. */
  readonly chosenBy: 'client' | 'operator' | 'profile';
};

/**
 * Assigns roots to a catalog of the tenant. It locks the roots until the transaction ends, so that none appears elsewhere meanwhile.
 * @throws INVALID_REQUEST when one is for stages, overlaps a root of another tenant's catalogs (in a profile of any catalog), or, unless the
 * operator chose it, a former root of another tenant.
 */
export async function takeRoots(tx: Tx, { tenantId, catalog, roots, chosenBy }: WantedRoots): Promise<void> {
  await sql`select pg_advisory_xact_lock(${ROOTS_LOCK})`.execute(tx);
  const others = await tx
    .selectFrom('catalog')
    .select(['location', 'allowed_roots'])
    .$if(chosenBy !== 'profile', (all) => all.where('tenant_id', '!=', tenantId))
    .execute();
  const foreign = others.flatMap((other) => [other.location, ...other.allowed_roots]);
  for (const root of roots) {
    requireNoEscape(root);
    // The order matters: the second query finds a catalog that is dropped between the two.
    const isTaken =
      isOfStages(root) ||
      foreign.some((other) => isWithin(root, other) || isWithin(other, root)) ||
      (chosenBy !== 'operator' && (await overlapsFormerRoot(tx, tenantId, root)));
    if (isTaken) {
      throw new SkeinError('INVALID_REQUEST', `the location of catalog ${catalog} cannot be used: ${root}`);
    }
    if (chosenBy === 'operator') await forgetFormerRoots(tx, tenantId, root);
  }
}

/** Records former roots of a tenant's catalog. */
export async function keepFormerRoots(tx: Tx, tenantId: string, roots: readonly string[]): Promise<void> {
  if (roots.length === 0) return;
  await tx
    .insertInto('former_root')
    .values(roots.map((location) => ({ location, tenant_id: tenantId })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Returns a location with a trailing slash: the prefix of everything at or below it. */
const folderOf = (location: string): string => (location.endsWith('/') ? location : `${location}/`);
const FORMER_FOLDER = sql<string>`rtrim(location, '/') || '/'`;

async function overlapsFormerRoot(db: Database, tenantId: string, root: string): Promise<boolean> {
  const folder = folderOf(root);
  const row = await db
    .selectFrom('former_root')
    .select('location')
    .where('tenant_id', '!=', tenantId)
    .where(sql<boolean>`(starts_with(${folder}, ${FORMER_FOLDER}) or starts_with(${FORMER_FOLDER}, ${folder}))`)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Deletes other tenants' former roots at and below a root that the operator gives away. */
async function forgetFormerRoots(tx: Tx, tenantId: string, root: string): Promise<void> {
  await tx
    .deleteFrom('former_root')
    .where('tenant_id', '!=', tenantId)
    .where(sql<boolean>`starts_with(${FORMER_FOLDER}, ${folderOf(root)})`)
    .execute();
}
