import { SkeinError } from '#shared/error.ts';
import { must } from '#shared/must.ts';
import { isExempt } from '../../../authorization/policies.ts';
import type { CatalogContext } from '../../../context.ts';
import { asObject, optionalBoolean, requiredString } from '../../../metadata/json-reader.ts';
import { requireUnprotected } from '../../../commit/protection.ts';
import { readRegistered } from '../../../commit/register-metadata.ts';
import { requireCatalog } from '../../../store/postgres/catalog-store.ts';
import { holdNamespace } from '../../../store/postgres/namespace-store.ts';
import { requireDroppable } from '../../../policy/protect-tables.ts';
import { claimFolders, lockLocations } from '../../../store/postgres/folder-claims.ts';
import {
  findTable,
  findTableHead,
  insertTable,
  swapMetadata,
  tableExists,
} from '../../../store/postgres/table-store.ts';
import type { Tx } from '../../../store/postgres/tables.ts';
import { checkName, namespaceOf } from '../../../metadata/check-name.ts';
import type { Answer, RestRequest } from '../../rest-operation.ts';
import { loadNamedTable } from './load-table.ts';
import { loadTableAnswer } from './table-answer.ts';
import { accessToTable } from '../../table-access.ts';
import type { UnitOfWork } from '../../../store/postgres/transact.ts';

/**
 * `POST /v1/{prefix}/namespaces/{namespace}/register`: adds a table from a metadata file that lies in one of the catalog's roots. With
 * `overwrite` it replaces a table of that name. The file stays unchanged and becomes the table's current metadata.
 */
export async function registerTable(context: CatalogContext, request: RestRequest, unit: UnitOfWork): Promise<Answer> {
  const body = asObject(request.body, 'register table request');
  const name = checkName(requiredString(body, 'name'), 'table');
  const file = requiredString(body, 'metadata-location');
  const overwrite = optionalBoolean(body, 'overwrite') ?? false;
  const { tenant } = request.claims;
  const prefix = request.params['prefix'] ?? '';
  const ident = { namespace: namespaceOf(request.params['namespace'] ?? ''), name };

  const catalog = await requireCatalog(context.store.db, tenant, prefix);
  const head = await findTableHead(context.store.db, tenant, prefix, ident);
  if (head !== undefined && !overwrite) throw tableExists(ident);
  const { text, facts, expiresAt, location, folders } = await readRegistered(context, file, {
    roots: catalog.roots,
    owner: tenant,
  });
  const row = { location, metadataLocation: file, metadata: text, facts, expiresAt };
  const register = async (tx: Tx): Promise<void> => {
    await lockLocations(tx, catalog.id, 'exclusive');
    const existing = await findTable(tx, tenant, prefix, ident);
    let id = existing?.id;
    if (existing === undefined) {
      const namespace = await holdNamespace(tx, catalog.id, ident.namespace);
      id = await insertTable(tx, { catalogId: catalog.id, namespaceId: namespace.id, ident, ...row });
    } else {
      if (!overwrite) throw tableExists(ident);
      await requireUnprotected(context, { metadata: existing.metadata, ident, tenant });
      await requireDroppable(tx, { id: existing.id, claims: request.claims }, { isForGood: true });
      if (!(await swapMetadata(tx, existing, { ...row, now: new Date(context.clock.nowMs()) }))) {
        throw new SkeinError('COMMIT_CONFLICT', 'Commit failed: another commit came first');
      }
    }
    const { claims } = request;
    const owner = { id: must(id, 'found or inserted'), catalogId: catalog.id, maker: claims.sub };
    await claimFolders(tx, { ...owner, isExempt: isExempt(claims) }, folders);
  };
  const bytes = Math.max(text.length, head?.metadataBytes ?? 0);
  await context.documents.run(tenant, bytes, () => unit.transact(register));
  const access = await accessToTable(context, request, ident);
  return loadTableAnswer({ metadataLocation: file, metadata: row.metadata }, 'all', access);
}

export const registerTableAgain = (context: CatalogContext, request: RestRequest): Promise<Answer> =>
  loadNamedTable(context, request, requiredString(asObject(request.body, 'register table request'), 'name'));
