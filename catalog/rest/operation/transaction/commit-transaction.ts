import type { CatalogContext } from '../../../context.ts';
import { commitTables, type TableChange } from '../../../commit/commit-tables.ts';
import { listCatalogs } from '../../../store/postgres/catalog-store.ts';
import { NO_CONTENT, type Answer, type RestRequest } from '../../operation.ts';
import { readTransaction, readTransactionApart, tableChanges, type Transaction } from '../../../commit/transaction.ts';
import type { UnitOfWork } from '../../../store/postgres/transact.ts';

/** `POST /v1/{prefix}/transactions/commit`: commits to several tables of a catalog atomically. */
export async function commitTransaction(
  context: CatalogContext,
  request: RestRequest,
  unit: UnitOfWork,
): Promise<Answer> {
  const transaction = await transactionOf(context, request);
  await commitTables(context, unit, changesOf(request, transaction, request.params['prefix'] ?? ''));
  return NO_CONTENT;
}

/**
 * `POST /v1/transactions/commit`, the service specification's path: `catalog` names the catalog, in each identifier or once in the body; a
 * tenant with a single catalog may omit it. The tables may belong to several catalogs.
 */
export async function commitAcrossCatalogs(
  context: CatalogContext,
  request: RestRequest,
  unit: UnitOfWork,
): Promise<Answer> {
  const transaction = await transactionOf(context, request);
  const [first, ...others] =
    transaction.catalog === undefined
      ? await listCatalogs(context.store.db, request.claims.tenant)
      : [transaction.catalog];
  await commitTables(context, unit, changesOf(request, transaction, others.length === 0 ? first : undefined));
  return NO_CONTENT;
}

function transactionOf({ readers }: CatalogContext, { large, body, claims }: RestRequest): Promise<Transaction> {
  return large === undefined
    ? Promise.resolve(readTransaction(body))
    : readTransactionApart(readers, large, claims.tenant);
}

/** @param catalog catalog of identifiers that name none */
const changesOf = (
  { params, claims }: RestRequest,
  transaction: Transaction,
  catalog: string | undefined,
): readonly TableChange[] => tableChanges(transaction, claims, { prefix: params['prefix'], fallback: catalog });
