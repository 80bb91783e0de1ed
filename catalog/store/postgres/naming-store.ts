import { sql } from 'kysely';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { splitPath, type TableIdent } from '../../metadata/object-name.ts';
import type { Database, Tx } from './tables.ts';
import { storageOf, type ViewRow } from './view-store.ts';

/** Views and functions whose documents may name something. */

export type NamingView = ViewRow & { readonly catalog: string; readonly ident: TableIdent };

/** A page of the views in whose documents a word stands, whatever the case. */
export type NamingPage = {
  /** '' = all */
  readonly word: string;
  /** The id of the last one of the page before, or '' */
  readonly after: string;
  readonly limit: number;
};

/** The views of a tenant, by their ids. */
export const listNamingViews = (db: Database, tenant: string, page: NamingPage): Promise<readonly NamingView[]> =>
  rowsOf(namingViews(db, tenant, page));

/** Locks the views of a tenant until the transaction ends. */
export const lockNamingViews = (tx: Tx, tenant: string, page: NamingPage): Promise<readonly NamingView[]> =>
  rowsOf(namingViews(tx, tenant, page).forNoKeyUpdate('v'));

function namingViews(db: Database, tenant: string, { word, after, limit }: NamingPage) {
  const query = db
    .selectFrom('iceberg_view as v')
    .innerJoin('catalog as c', 'c.id', 'v.catalog_id')
    .innerJoin('tenant as o', 'o.id', 'c.tenant_id')
    .innerJoin('namespace as n', 'n.id', 'v.namespace_id')
    .leftJoin('namespace as s', 's.id', 'v.storage_namespace_id')
    .select(['v.id', 'v.catalog_id as catalogId', 'v.namespace_id as namespaceId', 'v.name', 'v.metadata', 'v.version'])
    .select(['v.metadata_location as metadataLocation', 'c.name as catalog', 'c.location as root', 'n.path'])
    .select(['c.allowed_roots as allowedRoots', 's.id as storageNamespaceId', 's.path as storagePath'])
    .select('v.storage_name as storageName')
    .where('o.name', '=', tenant)
    .where(hasWord('v', word))
    .orderBy('v.id')
    .limit(limit);
  return after === '' ? query : query.where('v.id', '>', after);
}

async function rowsOf(query: ReturnType<typeof namingViews>): Promise<readonly NamingView[]> {
  return (await query.execute()).map(({ root, allowedRoots, path, name, ...row }) => ({
    ...row,
    roots: [root, ...allowedRoots],
    ident: { namespace: splitPath(path), name },
    storage: storageOf(row),
  }));
}

/** The functions of a tenant in whose documents a word stands. */
export async function listNamingFunctions(
  tx: Tx,
  tenant: string,
  word: string,
): Promise<readonly { readonly catalog: string; readonly ident: TableIdent; readonly metadata: string }[]> {
  const rows = await tx
    .selectFrom('iceberg_function as f')
    .innerJoin('catalog as c', 'c.id', 'f.catalog_id')
    .innerJoin('tenant as o', 'o.id', 'c.tenant_id')
    .innerJoin('namespace as n', 'n.id', 'f.namespace_id')
    .select(['c.name as catalog', 'n.path', 'f.name', 'f.metadata'])
    .where('o.name', '=', tenant)
    .where(hasWord('f', word))
    .execute();
  return rows.map(({ catalog, path, name, metadata }) => ({
    catalog,
    ident: { namespace: splitPath(path), name },
    metadata,
  }));
}

/** The letters A to Z of the collation "C" are those that `foldIdentifier` folds. */
const hasWord = (table: 'v' | 'f', word: string) =>
  sql<boolean>`strpos(lower(${sql.ref(`${table}.metadata`)} collate "C"), ${foldIdentifier(word)}) > 0`;
