import type { FindLoadsRequest } from '#proto/generated/skein/catalog/v1/FindLoadsRequest.ts';
import type { Principal } from '#shared/authorization/principal.ts';
import { SkeinError } from '#shared/error.ts';
import type { CatalogContext } from '../context.ts';
import { findLoads as find } from '../store/postgres/loaded-file-store.ts';
import { requireTableHead } from '../store/postgres/table-store.ts';

/** Those of some files of a stage that are loaded into a table. @throws CATALOG_NOT_FOUND, SCHEMA_NOT_FOUND, TABLE_NOT_FOUND */
export async function findLoadsCall(
  { store: { db }, clock }: CatalogContext,
  { table, branch, stage_id: stageId, files }: FindLoadsRequest,
  { tenant }: Principal,
): Promise<{ readonly paths: string[] }> {
  if (table === null) throw new SkeinError('INVALID_REQUEST', 'the table is not named');
  const { id } = await requireTableHead(db, tenant, table.catalog, { namespace: table.namespace, name: table.table });
  return { paths: [...(await find(db, id, { branch, stageId, files }, new Date(clock.nowMs())))] };
}
