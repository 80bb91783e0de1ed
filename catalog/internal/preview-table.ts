import type { LoadedTableInput } from '#proto/generated/skein/catalog/v1/LoadedTable.ts';
import type { StageTableRequest } from '#proto/generated/skein/catalog/v1/StageTableRequest.ts';
import { toKeyMessage } from '#shared/task/bucket-key.ts';
import type { BucketKey } from '#proto/generated/skein/catalog/v1/BucketKey.ts';
import { actionsOn } from '#shared/authorization/action.ts';
import type { Principal } from '#shared/authorization/principal.ts';
import { SkeinError } from '#shared/error.ts';
import { rootsMessage } from '#shared/storage/denied-roots.ts';
import { allowedActions } from '../authorization/decide.ts';
import { NO_POLICIES } from '../authorization/policies.ts';
import { planInsert, planSwap, type TableChange } from '../commit/commit-tables.ts';
import { readRegistered } from '../commit/register-metadata.ts';
import { tableChanges, multiTableCommitOfBytes } from '../commit/multi-table-commit.ts';
import type { CatalogContext } from '../context.ts';
import { readableRootsOf } from '../policy/readable-roots.ts';
import { requireCatalog, type CatalogRow } from '../store/postgres/catalog-store.ts';
import { listClaims } from '../store/postgres/folder-claims.ts';
import { findTableById, readDocument } from '../store/postgres/table-store.ts';
import { findVersion } from '../store/postgres/table-version-store.ts';
import { readVersion } from './table-at-moment.ts';

const TABLE_ACTIONS = actionsOn('table');

/**
 * Says what a table would be after changes that are not committed (the call `StageTable`): for the statements of a transaction, which see those before them.
 * Nothing is stored. @throws COMMIT_CONFLICT when the document that the changes are made of is gone, and the errors of a commit
 */
export async function previewTable(
  context: CatalogContext,
  { base_version: baseVersion, transaction }: StageTableRequest,
  principal: Principal,
): Promise<LoadedTableInput> {
  const read = await multiTableCommitOfBytes(context.readers, transaction, principal.tenant);
  const [change, ...others] = tableChanges(read, principal, {});
  if (change === undefined || others.length > 0)
    throw new SkeinError('INVALID_REQUEST', 'one table is staged at a time');
  const { catalog: name, ident } = change.target;
  const catalog = await requireCatalog(context.store.db, principal.tenant, name);
  const step = await (baseVersion === ''
    ? planInsert(context, change)
    : planChange(context, change, { catalog, baseVersion }));
  return {
    status: 'FOUND',
    metadata_json: step.kind === 'keep' ? step.done.metadata : step.text,
    ...rootsMessage(await rootsOf(context, { roots: catalog.roots, baseVersion }, principal)),
    namespace: ident.namespace,
    table: ident.name,
    actions: allowedActions(principal, { kind: 'table', catalog: catalog.name, ...ident }, TABLE_ACTIONS),
    key: await keyOf(context, step, { baseVersion, tenant: principal.tenant }),
    ...NO_POLICIES,
  };
}

/** As `LoadTables` has them. A table that the changes make has none but its own files, and another's id never is its own. */
async function rootsOf(
  { store }: CatalogContext,
  { roots, baseVersion }: { readonly roots: readonly string[]; readonly baseVersion: string },
  principal: Principal,
): Promise<readonly string[]> {
  if (baseVersion === '') return roots;
  return readableRootsOf(store.db, { id: readVersion(baseVersion).tableId, roots }, principal);
}

type Planned = Awaited<ReturnType<typeof planSwap> | ReturnType<typeof planInsert>>;

/** The right to read the files of the table where they lie in a bucket: in the folders that it has, and those that the changes bring. */
async function keyOf(
  { store, storages }: CatalogContext,
  step: Planned,
  { baseVersion, tenant }: { readonly baseVersion: string; readonly tenant: string },
): Promise<BucketKey | null> {
  const had = baseVersion === '' ? [] : await listClaims(store.db, readVersion(baseVersion).tableId);
  const folders = [...had, ...(step.kind === 'keep' ? [] : step.folders)];
  return folders.length === 0 ? null : toKeyMessage(await storages.vend({ folders, permission: 'read', tenant }));
}

type Base = { readonly catalog: CatalogRow; readonly baseVersion: string };

async function planChange(
  context: CatalogContext,
  change: TableChange,
  { catalog, baseVersion }: Base,
): ReturnType<typeof planSwap> {
  const { db } = context.store;
  const { tableId, version } = readVersion(baseVersion);
  const head = await findTableById(db, { id: tableId, catalogId: catalog.id });
  if (head === undefined) throw gone();
  const { tenant } = change.target.claims;
  return context.documents.run(tenant, head.metadataBytes, async () => {
    const now = head.version === version ? await readDocument(db, tableId, version) : undefined;
    if (now !== undefined) return planSwap(context, change, { ...head, roots: catalog.roots, metadata: now });
    const earlier = await findVersion(db, tableId, version);
    if (earlier === undefined) throw gone();
    const { metadataLocation } = earlier;
    const { text } = await readRegistered(context, metadataLocation, { roots: catalog.roots, owner: tenant });
    return planSwap(context, change, { ...head, roots: catalog.roots, version, metadataLocation, metadata: text });
  });
}

const gone = (): SkeinError => new SkeinError('COMMIT_CONFLICT', 'the table was dropped meanwhile');
