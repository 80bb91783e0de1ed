import type { FindFoldersRequest } from '#proto/generated/skein/catalog/v1/FindFoldersRequest.ts';
import type { Principal } from '#shared/authorization/principal.ts';
import { SkeinError } from '#shared/error.ts';
import type { CatalogContext } from '../context.ts';
import { listClaimsOf } from '../store/postgres/folder-claims.ts';

/** An id, a dot, the number of the document: what `LoadTables` gives as the version of a table. */
const TABLE_VERSION = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.\d+$/;

/** The folders that a table claims; none for one that is gone, or another tenant's. @throws INVALID_REQUEST */
export async function findFolders(
  { store: { db } }: Pick<CatalogContext, 'store'>,
  { version }: FindFoldersRequest,
  { tenant }: Principal,
): Promise<{ readonly folders: string[] }> {
  const id = TABLE_VERSION.exec(version)?.[1];
  if (id === undefined) throw new SkeinError('INVALID_REQUEST', 'not the version of a table');
  return { folders: await listClaimsOf(db, tenant, id) };
}
