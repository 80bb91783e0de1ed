import type { CatalogContext } from '../../../context.ts';
import { commitTables } from '../../../commit/commit-tables.ts';
import { inTheirCatalogs } from '../../../commit/in-their-catalogs.ts';
import { NO_CONTENT, type Answer, type RestRequest } from '../../rest-operation.ts';
import {
  readMultiTableCommit,
  readMultiTableCommitApart,
  tableChanges,
  type MultiTableCommit,
} from '../../../commit/multi-table-commit.ts';
import type { UnitOfWork } from '../../../store/postgres/transact.ts';

/** `POST /v1/{prefix}/transactions/commit`: commits to several tables of a catalog atomically. */
export async function commitTransaction(
  context: CatalogContext,
  request: RestRequest,
  unit: UnitOfWork,
): Promise<Answer> {
  const transaction = await transactionOf(context, request);
  const { claims, params, isOfClient } = request;
  const named = { prefix: params['prefix'] ?? '', isOfClient };
  await commitTables(context, unit, tableChanges(transaction, claims, named));
  return NO_CONTENT;
}

/**
 * `POST /v1/transactions/commit`, the service specification's path: `catalog` names the catalog, in each identifier or once in the body. Without a
 * name the tables are found by the UUIDs that the changes require, or else in the tenant's default catalog. They may belong to several.
 */
export async function commitAcrossCatalogs(
  context: CatalogContext,
  request: RestRequest,
  unit: UnitOfWork,
): Promise<Answer> {
  const transaction = await transactionOf(context, request);
  const { catalog, ...found } = await inTheirCatalogs(context, request.claims.tenant, transaction);
  const { claims, isOfClient } = request;
  await commitTables(context, unit, tableChanges({ catalog, ...found }, claims, { fallback: catalog, isOfClient }));
  return NO_CONTENT;
}

function transactionOf({ readers }: CatalogContext, { large, body, claims }: RestRequest): Promise<MultiTableCommit> {
  return large === undefined
    ? Promise.resolve(readMultiTableCommit(body))
    : readMultiTableCommitApart(readers, large, claims.tenant);
}
