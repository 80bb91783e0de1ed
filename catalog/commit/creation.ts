import { randomUUID } from 'node:crypto';
import type { TokenClaims } from '#shared/token-claims.ts';
import type { CatalogContext } from '../context.ts';
import { newTableLocation, requireBelowRoot, plainLocation } from '../storage/table-location.ts';
import type { CatalogRow } from '../store/postgres/catalog-store.ts';
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
export function newCreation(
  context: CatalogContext,
  target: TableTarget,
  catalog: CatalogRow,
  chosen: string | undefined,
): Creation {
  const uuid = randomUUID();
  if (chosen !== undefined) requireBelowRoot(chosen, catalog.roots);
  return {
    uuid,
    location: chosen === undefined ? newTableLocation(catalog.location, target.ident, uuid) : plainLocation(chosen),
    nowMs: context.clock.nowMs(),
    owner: target.claims.preferred_username,
  };
}
