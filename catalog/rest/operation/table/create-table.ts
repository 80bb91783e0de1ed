import { FileNotFound } from '#shared/storage/storage.ts';
import { isExempt } from '../../../authorization/policies.ts';
import type { CatalogContext } from '../../../context.ts';
import { aboutSource, CREATE_HEAD, type CreateHead, type Source } from '../../../metadata/commit-source.ts';
import { aboutTable, createInput, insertNewTable } from '../../../commit/commit-tables.ts';
import { NEW_METADATA } from '../../../commit/created-metadata.ts';
import { runDocumentTask } from '../../../metadata/document-task.ts';
import { newCreation, type CommittedTable, type TableTarget } from '../../../commit/creation.ts';
import { parseCreateTable, type CreateTableRequest } from '../../../metadata/new-table.ts';
import { inTheWay } from '../../../storage/table-location.ts';
import { requireCatalog } from '../../../store/postgres/catalog-store.ts';
import { requireFree, requireNotClosed, requireUnopened } from '../../../store/postgres/folder-claims.ts';
import { findTableHead, tableExists } from '../../../store/postgres/table-store.ts';
import { requireNoView } from '../../../store/postgres/view-store.ts';
import { checkName, namespaceOf } from '../../../metadata/check-name.ts';
import { largeBody, type Answer, type RestRequest } from '../../rest-operation.ts';
import { loadNamedTable } from './load-table.ts';
import { loadTableAnswer } from './table-answer.ts';
import { accessToPlace, accessToTable, NO_ACCESS, waysOfRequest, type TableAccess } from '../../table-access.ts';
import { findProfileAt } from '../../../store/postgres/profile-store.ts';
import type { UnitOfWork } from '../../../store/postgres/transact.ts';

/** `POST /v1/{prefix}/namespaces/{namespace}/tables`: creates a table; with `stage-create` it stores nothing. */
export async function createTable(context: CatalogContext, request: RestRequest, unit: UnitOfWork): Promise<Answer> {
  const body = await readCreate(context, request);
  const name = checkName(body.head.name, 'table');
  const ident = { namespace: namespaceOf(request.params['namespace'] ?? ''), name };
  const target = { claims: request.claims, catalog: request.params['prefix'] ?? '', ident };
  const bytes = 'bytes' in body.source ? body.source.bytes.length : 0;
  const made = await context.documents.run(target.claims.tenant, bytes, () => create(context, unit, target, body));
  const access =
    made.staged !== undefined
      ? await accessToStaged(context, request, { ident, ...made.staged })
      : await accessToTable(context, request, ident);
  return loadTableAnswer(made, 'all', access);
}

/** Where the table of a staged create will lie. */
type Staged = { readonly roots: readonly string[]; readonly location: string; readonly folders: readonly string[] };

async function accessToStaged(
  context: CatalogContext,
  request: RestRequest,
  staged: Staged & { readonly ident: TableTarget['ident'] },
): Promise<TableAccess> {
  if (waysOfRequest(request).length === 0) return NO_ACCESS;
  const profile = await findProfileAt(context.store.db, staged.location);
  const catalog = request.params['prefix'] ?? '';
  return accessToPlace(context, request, { ...staged, catalog, tableId: undefined, hasPolicies: false, profile });
}

type ReadCreate = { readonly head: CreateHead; readonly source: Source<CreateTableRequest> };

async function readCreate({ readers }: CatalogContext, request: RestRequest): Promise<ReadCreate> {
  const { large, body } = request;
  if (large !== undefined) {
    return { head: await runDocumentTask(readers, CREATE_HEAD, large, largeBody(request)), source: { bytes: large } };
  }
  const parsed = parseCreateTable(body);
  return { head: parsed, source: { request: parsed } };
}

async function create(
  context: CatalogContext,
  unit: UnitOfWork,
  target: TableTarget,
  { head, source }: ReadCreate,
): Promise<CommittedTable & { readonly staged?: Staged }> {
  const { db } = context.store;
  const { tenant } = target.claims;
  if ((await findTableHead(db, tenant, target.catalog, target.ident)) !== undefined) throw tableExists(target.ident);
  const catalog = await requireCatalog(db, tenant, target.catalog);
  const creation = await newCreation(context, target, catalog, head.location);
  const input = { source, ...createInput(context, catalog, creation) };
  const about = aboutSource(source, aboutTable(target, ''));
  const made = await runDocumentTask(context.readers, NEW_METADATA, input, about);
  if (!head.stageCreate) return insertNewTable(context, unit, { catalog, target }, made);
  await requireNoView(db, tenant, target.catalog, target.ident);
  await requireFree(db, made.folders, undefined);
  await requireUnopened(db, made.folders, { maker: target.claims.sub });
  if (!isExempt(target.claims)) await requireNotClosed(db, made.folders);
  // Some clients write their first metadata or manifest without making its folder.
  const folder = `${creation.location}/metadata`;
  const storage = await context.storages.open(folder);
  await storage.makeFolder(folder).catch((error: unknown) => {
    throw error instanceof FileNotFound ? inTheWay(creation.location, error) : error;
  });
  const { location, folders } = made;
  return { metadataLocation: undefined, metadata: made.text, staged: { roots: catalog.roots, location, folders } };
}

/** Repeats a create under its key: a staged create left nothing behind, so it runs again. */
export async function createTableAgain(
  context: CatalogContext,
  request: RestRequest,
  unit: UnitOfWork,
): Promise<Answer> {
  const { name, stageCreate } = (await readCreate(context, request)).head;
  return stageCreate ? createTable(context, request, unit) : loadNamedTable(context, request, name);
}
