import { sql } from 'kysely';
import { SkeinError } from '#shared/error.ts';
import { isWithin } from '#shared/storage/location.ts';
import type { Database, Tx } from './tables.ts';

/**
 * Roots of catalogs, and their tenants. A root belongs to the tenant of the catalogs that have it, and still does when none has it any more:
 * dropping a catalog deletes no file, and the next owner of the folder could register the tables that lie there. Only the operator gives
 * a root to another tenant. Roots here are normalised.
 */

/** Key of the advisory lock under which roots are compared and one is added. */
const ROOTS_LOCK = 5_324_002;

export type WantedRoots = {
  readonly tenantId: string;
  /** Name of the catalog, for messages. */
  readonly catalog: string;
  readonly roots: readonly string[];
  readonly chosenBy: 'client' | 'operator';
};

/**
 * Gives roots to a catalog of the tenant. Until the transaction ends no root appears elsewhere.
 * @throws INVALID_REQUEST when one overlaps a root of another tenant's catalogs, or, unless the operator chose it, a former one.
 */
export async function takeRoots(tx: Tx, { tenantId, catalog, roots, chosenBy }: WantedRoots): Promise<void> {
  await sql`select pg_advisory_xact_lock(${ROOTS_LOCK})`.execute(tx);
  const others = await tx
    .selectFrom('catalog')
    .select(['location', 'allowed_roots'])
    .where('tenant_id', '!=', tenantId)
    .execute();
  const foreign = others.flatMap((other) => [other.location, ...other.allowed_roots]);
  for (const root of roots) {
    // In this order: a catalog that is dropped in between is found by the second.
    const isTaken =
      foreign.some((other) => isWithin(root, other) || isWithin(other, root)) ||
      (chosenBy === 'client' && (await overlapsFormerRoot(tx, tenantId, root)));
    if (isTaken) {
      throw new SkeinError('INVALID_REQUEST', `the location of catalog ${catalog} cannot be used: ${root}`);
    }
    if (chosenBy === 'operator') await forgetFormerRoots(tx, tenantId, root);
  }
}

/** Remembers roots that a catalog of the tenant had. */
export async function keepFormerRoots(tx: Tx, tenantId: string, roots: readonly string[]): Promise<void> {
  if (roots.length === 0) return;
  await tx
    .insertInto('former_root')
    .values(roots.map((location) => ({ location, tenant_id: tenantId })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** A location as the beginning of all that lies at or below it. */
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

/** Other tenants' former roots at and below a root that the operator gives away are no longer theirs. */
async function forgetFormerRoots(tx: Tx, tenantId: string, root: string): Promise<void> {
  await tx
    .deleteFrom('former_root')
    .where('tenant_id', '!=', tenantId)
    .where(sql<boolean>`starts_with(${FORMER_FOLDER}, ${folderOf(root)})`)
    .execute();
}
