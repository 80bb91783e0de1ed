import { randomUUID } from 'node:crypto';
import type { TokenClaims } from '#shared/authorization/token-claims.ts';
import type { CatalogContext } from '../context.ts';
import { newTableLocation, plainLocation, requireBelowRoot, spareTableLocation } from '../storage/table-location.ts';
import type { CatalogRow } from '../store/postgres/catalog-store.ts';
import { isFree } from '../store/postgres/folder-claims.ts';
import type { TableIdent } from '../metadata/object-name.ts';
import type { Creation } from '../metadata/new-table.ts';

/** A table as it stands after a create, a load or a commit. */
export type CommittedTable = {
  /** Undefined for a staged create, which writes nothing. */
  readonly metadataLocation: string | undefined;
  /** JSON text of the metadata. */
  readonly metadata: string;
};

/** A table, and the caller who names it. */
export type TableTarget = { readonly claims: Caller; readonly catalog: string; readonly ident: TableIdent };

/**
 * The caller's claims that a commit needs: the tenant whose tables it finds, and the owner of those that it creates; and what
 * policies let it do. The catalog's own work has no roles.
 */
type Caller = Pick<TokenClaims, 'sub' | 'tenant' | 'preferred_username'> &
  Partial<Pick<TokenClaims, 'roles' | 'privileges'>>;

/**
 * Returns owner, time, uuid and location of a new table; `chosen` is the location that the client asks for.
 * @throws INVALID_REQUEST when `chosen` is outside of the catalog's roots
 */
export async function newCreation(
  context: CatalogContext,
  target: TableTarget,
  catalog: CatalogRow,
  chosen: string | undefined,
): Promise<Creation> {
  const uuid = randomUUID();
  if (chosen !== undefined) requireBelowRoot(chosen, catalog.roots);
  return {
    uuid,
    location: chosen === undefined ? await ownLocation(context, target, catalog, uuid) : plainLocation(chosen),
    nowMs: context.clock.nowMs(),
    owner: target.claims.preferred_username,
  };
}

/** Returns a free location in the folder of the namespace, or the spare location when a client has put a table at that folder. */
async function ownLocation(
  { store }: CatalogContext,
  { ident }: TableTarget,
  { location: root }: CatalogRow,
  uuid: string,
): Promise<string> {
  const usual = newTableLocation(root, ident, uuid);
  return (await isFree(store.db, usual, undefined)) ? usual : spareTableLocation(root, ident, uuid);
}
