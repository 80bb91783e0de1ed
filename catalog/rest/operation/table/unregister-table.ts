import { requireOpenFiles } from '../../../authorization/policies.ts';
import type { CatalogContext } from '../../../context.ts';
import { requireUnprotected } from '../../../commit/protection.ts';
import { requireDroppable } from '../../../policy/protect-tables.ts';
import { releaseClaims } from '../../../store/postgres/folder-claims.ts';
import { deleteTable, requireTableHead, tableNotFound } from '../../../store/postgres/table-store.ts';
import { tableTarget } from '../../request-names.ts';
import type { Answer, RestRequest } from '../../rest-operation.ts';
import type { UnitOfWork } from '../../../store/postgres/transact.ts';

/**
 * `POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/unregister`: removes the table from the catalog and keeps all its files. The
 * answer has its last metadata; later commits fail.
 */
export async function unregisterTable(
  context: CatalogContext,
  request: RestRequest,
  unit: UnitOfWork,
): Promise<Answer> {
  const target = tableTarget(request);
  const { tenant } = target.claims;
  const head = await requireTableHead(context.store.db, tenant, target.catalog, target.ident);
  const text = await context.documents.run(tenant, head.metadataBytes, () => unregister(context, request, unit));
  return { status: 200, text };
}

function unregister(context: CatalogContext, request: RestRequest, unit: UnitOfWork): Promise<string> {
  const target = tableTarget(request);
  return unit.transact(
    async (tx) => {
      const row = await requireTableHead(tx, target.claims.tenant, target.catalog, target.ident);
      requireOpenFiles(row, request);
      const deleted = (await deleteTable(tx, row, target.ident)) ?? tableNotFound(target.ident);
      await requireUnprotected(context, { ...target, ...target.claims, metadata: deleted.metadata });
      await requireDroppable(tx, { id: row.id, claims: target.claims }, { isForGood: true });
      await releaseClaims(tx, row.id, deleted.metadata);
      return `{"metadata-location":${JSON.stringify(deleted.metadataLocation)},"metadata":${deleted.metadata}}`;
    },
    // The answer is kept with its key: after the change nothing is left to render it from.
    (answer) => answer,
  );
}
