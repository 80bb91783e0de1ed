import type { ListChangesRequest } from '#proto/generated/skein/catalog/v1/ListChangesRequest.ts';
import type { ChangeListInput } from '#proto/generated/skein/catalog/v1/ChangeList.ts';
import type { Principal } from '#shared/authorization/principal.ts';
import type { CatalogContext } from '../context.ts';
import { requireCatalog } from '../store/postgres/catalog-store.ts';
import { listChanges as changesSince, type ListMark } from '../store/postgres/list-change-store.ts';

/** Changes of one answer; with more the reader reads everything. */
const CHANGES_MAX = 2_000;

/**
 * Says what has changed in the lists of a catalog since a mark. Which of it the principal may list, `ListRelations` says: that depends on its
 * token alone, so that no list changes by a change of rights.
 * @throws CATALOG_NOT_FOUND
 */
export async function listChangesCall(
  context: CatalogContext,
  { catalog, since }: ListChangesRequest,
  { tenant }: Principal,
): Promise<ChangeListInput> {
  const { id: catalogId } = await requireCatalog(context.store.db, tenant, catalog);
  const found = await changesSince(context.store.pool, { catalogId, since: readMark(since), most: CHANGES_MAX });
  const { mark, changed } = found;
  return {
    mark: [mark.era, mark.catalogId, mark.snapshot].join(' '),
    is_known: changed !== null,
    relations: [...(changed?.relations ?? [])],
    namespaces: changed?.hasNamespaces ?? false,
  };
}

const MARK = /^([\da-f-]{36}) ([\da-f-]{36}) (\d{1,19}:\d{1,19}:[\d,]*)$/;

/** A mark of another form, perhaps of a later release, is none. */
function readMark(text: string): ListMark | null {
  const [, era, catalogId, snapshot] = MARK.exec(text) ?? [];
  return era === undefined || catalogId === undefined || snapshot === undefined ? null : { era, catalogId, snapshot };
}
