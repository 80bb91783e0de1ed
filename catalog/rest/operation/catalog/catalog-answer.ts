import type { Json } from '#shared/json.ts';
import type { CatalogRow } from '../../../store/postgres/catalog-store.ts';

/** Renders a catalog for clients. Its storage profile says where its files are, without secrets. */
export const catalogJson = (catalog: CatalogRow): Json => ({
  name: catalog.name,
  'storage-profile': {
    type: catalog.location.slice(0, catalog.location.indexOf(':')),
    location: catalog.location,
    'allowed-locations': catalog.roots,
  },
  'undrop-window-seconds': catalog.undropWindowMs / 1_000,
  'created-at': catalog.createdAt.toISOString(),
});
