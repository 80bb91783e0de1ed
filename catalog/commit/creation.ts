import { randomUUID } from 'node:crypto';
import type { TokenClaims } from '#shared/token-claims.ts';
import type { CatalogContext } from '../context.ts';
import { newTableLocation, plainLocation, requireBelowRoot, spareTableLocation } from '../storage/table-location.ts';
import type { CatalogRow } from '../store/postgres/catalog-store.ts';
import { isFree } from '../store/postgres/folder-claims.ts';
import type { TableIdent } from '../store/postgres/table-store.ts';
import type { Creation } from './new-table.ts';

/** A table as it stands after a create, a load or a commit. */
export type CommittedTable = {
  /** Undefined for a staged create, which writes nothing. */
  readonly metadataLocation: string | undefined;
  /** JSON text of the metadata. */
  readonly metadata: string;
};

/** Names a table for a caller of a tenant. */
export type TableTarget = { readonly claims: TokenClaims; readonly catalog: string; readonly ident: TableIdent };

/** What a new table gets; `chosen` is the client's location. @throws INVALID_REQUEST when that is outside of the catalog's roots. */
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

/** In the folder of the namespace, unless a client has put a table there: nothing of another table's lies in it. */
async function ownLocation(
  { store }: CatalogContext,
  { ident }: TableTarget,
  { location: root }: CatalogRow,
  uuid: string,
): Promise<string> {
  const usual = newTableLocation(root, ident, uuid);
  return (await isFree(store.db, usual, undefined)) ? usual : spareTableLocation(root, ident, uuid);
}
