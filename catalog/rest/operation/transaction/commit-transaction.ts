import { SkeinError } from '#shared/error.ts';
import type { CatalogContext } from '../../../context.ts';
import { commitTables, type TableChange } from '../../../commit/commit-tables.ts';
import { runDocumentTask } from '../../../commit/document-task.ts';
import { listCatalogs } from '../../../store/postgres/catalog-store.ts';
import { displayIdent } from '../../../store/postgres/table-store.ts';
import { largeBody, NO_CONTENT, type Answer, type RestRequest } from '../../operation.ts';
import { READ_TRANSACTION, readTransaction, type Transaction } from './read-transaction.ts';
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

async function transactionOf({ readers }: CatalogContext, request: RestRequest): Promise<Transaction> {
  const { large, body } = request;
  if (large === undefined) return readTransaction(body);
  return runDocumentTask(readers, READ_TRANSACTION, large, largeBody(request));
}

/** @param catalog catalog of identifiers that name none */
function changesOf(
  request: RestRequest,
  transaction: Transaction,
  catalog: string | undefined,
): readonly TableChange[] {
  const changes = transaction.changes.map(({ ident, catalog: own, source }): TableChange => {
    const named = request.params['prefix'] ?? own ?? catalog;
    if (named === undefined) {
      throw new SkeinError('INVALID_REQUEST', `${displayIdent(ident)}: which catalog? Name it by "catalog"`);
    }
    return { target: { claims: request.claims, catalog: named, ident }, source };
  });
  const names = new Set(changes.map(({ target }) => JSON.stringify([target.catalog, target.ident])));
  if (names.size < changes.length) {
    throw new SkeinError('INVALID_REQUEST', `Invalid transaction: a table is changed twice`);
  }
  return changes;
}
