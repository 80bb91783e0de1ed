import { CompiledQuery } from 'kysely';
import type { TenantId } from '#shared/id.ts';
import { storedSettings, type StorageSettings } from '../../metadata/storage-settings.ts';
import { LEVEL_SEPARATOR, type TableIdent } from '../../metadata/object-name.ts';
import { catalogNotFound } from './catalog-store.ts';
import { isPoliced } from './policy-facts.ts';
import type { ProfileRow } from './profile-store.ts';
import { tableNotFound } from './table-store.ts';
import type { Database } from './tables.ts';

/** Where the files of a table lie, and how they are reached. */
export type FilePlace = {
  readonly tableId: string;
  readonly catalog: string;
  readonly ident: TableIdent;
  /** Roots of the catalog. */
  readonly roots: readonly string[];
  /** Normalised. */
  readonly location: string;
  /** All folders that the table has or had. */
  readonly folders: readonly string[];
  /** Policies are bound to it, or to a table that its rows were made of. */
  readonly hasPolicies: boolean;
  /** Undefined for local files, and for a bucket that no catalog has a key for. */
  readonly profile: ProfileRow | undefined;
};

/** The parts of a profile have names of their own, because the row is flat. */
type Row = {
  readonly catalog: string;
  readonly path: string | null;
  readonly name: string | null;
  readonly roots: readonly string[];
  readonly tableId: string | null;
  readonly location: string;
  readonly folders: readonly string[];
  readonly hasPolicies: boolean;
  readonly profileCatalogId: string | null;
  readonly profileCatalog: string;
  readonly profileTenant: string;
  readonly profileRoots: readonly string[];
  readonly version: number;
  readonly settings: StorageSettings;
  readonly sealedKey: string | null;
  readonly sealedEngineKey: string | null;
};

/** Every signature runs this statement, so it is one, and handwritten. The profile is that of the deepest root above the table. */
const select = (tables: string): string => `
  select c.name as catalog, n.path, t.name, array_prepend(c.location, c.allowed_roots) as roots, t.id as "tableId", t.location,
    array(select f.location from catalog.folder_claim f where f.owner_id = t.id order by f.location) as folders,
    ${isPoliced('t.id')} as "hasPolicies", p.*
  ${tables}
  left join lateral (
    select q.catalog_id as "profileCatalogId", k.name as "profileCatalog", x.name as "profileTenant",
      array_prepend(k.location, k.allowed_roots) as "profileRoots", q.version, q.settings,
      q.sealed_key as "sealedKey", q.sealed_engine_key as "sealedEngineKey"
    from catalog.storage_profile q
    join catalog.catalog k on k.id = q.catalog_id
    join catalog.tenant x on x.id = k.tenant_id
    cross join lateral unnest(array_prepend(k.location, k.allowed_roots)) as r (root)
    where starts_with(t.location || '/', r.root || '/')
    order by length(r.root) desc limit 1
  ) p on t.location not like 'file:%'`;

const BY_NAME = `${select(`
  from catalog.catalog c
  join catalog.tenant o on o.id = c.tenant_id
  left join catalog.namespace n on n.catalog_id = c.id and n.path = $3
  left join catalog.iceberg_table t on t.namespace_id = n.id and t.name = $4`)}
  where o.name = $1 and c.name = $2`;

/** @throws CATALOG_NOT_FOUND (another tenant's too), TABLE_NOT_FOUND */
export async function requireFilePlace(
  db: Database,
  tenant: TenantId,
  catalog: string,
  ident: TableIdent,
): Promise<FilePlace> {
  const parameters = [tenant, catalog, ident.namespace.join(LEVEL_SEPARATOR), ident.name];
  const { rows } = await db.executeQuery<Row>(CompiledQuery.raw(BY_NAME, parameters));
  const [row] = rows;
  if (row === undefined) return catalogNotFound(catalog);
  return row.tableId === null ? tableNotFound(ident) : toPlace({ ...row, tableId: row.tableId }, ident);
}

function toPlace(row: Row & { readonly tableId: string }, ident: TableIdent): FilePlace {
  const { tableId, catalog, roots, location, folders, hasPolicies, profileCatalogId } = row;
  const profile =
    profileCatalogId === null
      ? undefined
      : {
          catalogId: profileCatalogId,
          catalog: row.profileCatalog,
          tenant: row.profileTenant,
          roots: row.profileRoots,
          version: row.version,
          settings: storedSettings(row.settings),
          sealedKey: row.sealedKey,
          sealedEngineKey: row.sealedEngineKey,
        };
  return { tableId, catalog, ident, roots, location, folders, hasPolicies, profile };
}
