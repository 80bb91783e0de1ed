import { FileNotFound } from '#shared/storage/file-io.ts';
import type { CatalogContext } from '../../../context.ts';
import { insertNewTable } from '../../../commit/commit-tables.ts';
import { printMetadata } from '../../../commit/swap-metadata.ts';
import { newCreation, type CommittedTable, type TableTarget } from '../../../commit/creation.ts';
import { newTableMetadata, parseCreateTable, type CreateTableRequest } from '../../../commit/new-table.ts';
import { checkLocations, inTheWay, ownFolders } from '../../../storage/table-location.ts';
import { requireCatalog } from '../../../store/postgres/catalog-store.ts';
import { requireFree } from '../../../store/postgres/folder-claims.ts';
import { findTable, tableExists } from '../../../store/postgres/table-store.ts';
import { requireNoView } from '../../../store/postgres/view-store.ts';
import { checkName, namespaceOf } from '../../names.ts';
import type { Answer, RestRequest } from '../../operation.ts';
import { loadNamedTable } from './load-table.ts';
import { loadTableAnswer } from './table-answer.ts';

/** `POST /v1/{prefix}/namespaces/{namespace}/tables`; with `stage-create` nothing durable is made. */
export async function createTable(context: CatalogContext, request: RestRequest): Promise<Answer> {
  const body = parseCreateTable(request.body);
  const ident = { namespace: namespaceOf(request.params['namespace'] ?? ''), name: checkName(body.name, 'table') };
  const target = { claims: request.claims, catalog: request.params['prefix'] ?? '', ident };
  return loadTableAnswer(await create(context, target, body), 'all');
}

async function create(
  context: CatalogContext,
  target: TableTarget,
  request: CreateTableRequest,
): Promise<CommittedTable> {
  const { db } = context.store;
  const { tenant } = target.claims;
  if ((await findTable(db, tenant, target.catalog, target.ident)) !== undefined) throw tableExists(target.ident);
  const catalog = await requireCatalog(db, tenant, target.catalog);
  const creation = await newCreation(context, target, catalog, request.location);
  const metadata = newTableMetadata(request, creation);
  checkLocations(metadata, undefined, catalog.roots);
  const locationChosen = request.location !== undefined;
  if (!request.stageCreate) return insertNewTable(context, { catalog, target }, metadata, locationChosen);
  await requireNoView(db, tenant, target.catalog, target.ident);
  await requireFree(db, ownFolders(metadata), undefined);
  // Some clients write their first metadata or manifest without making its folder.
  await context.io.makeFolder(`${creation.location}/metadata`).catch((error: unknown) => {
    throw error instanceof FileNotFound ? inTheWay(creation.location, error) : error;
  });
  return {
    metadataLocation: undefined,
    metadata: printMetadata(metadata, context.config['catalog.metadata_bytes_max']),
  };
}

/** A staged create left nothing behind, so it is done again. */
export async function createTableAgain(context: CatalogContext, request: RestRequest): Promise<Answer> {
  const { name, stageCreate } = parseCreateTable(request.body);
  return stageCreate ? createTable(context, request) : loadNamedTable(context, request, name);
}
