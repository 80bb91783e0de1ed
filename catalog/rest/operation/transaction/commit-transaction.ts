import { SkeinError } from '#shared/error.ts';
import type { Json } from '#shared/json.ts';
import type { CatalogContext } from '../../../context.ts';
import { commitTables, type TableChange } from '../../../commit/commit-tables.ts';
import { parseCommit } from '../../../commit/commit-metadata.ts';
import { asObject, get, optionalString, requiredArray } from '../../../commit/json-reader.ts';
import { listCatalogs } from '../../../store/postgres/catalog-store.ts';
import { displayIdent } from '../../../store/postgres/table-store.ts';
import { identOfJson } from '../../names.ts';
import { NO_CONTENT, type Answer, type RestRequest } from '../../operation.ts';

/** Tables of one transaction. */
const TABLES_MAX = 100;

/** `POST /v1/{prefix}/transactions/commit`: commits to several tables of a catalog, all or none. */
export const commitTransaction = (context: CatalogContext, request: RestRequest): Promise<Answer> =>
  commit(context, request, request.params['prefix'] ?? '');

/**
 * `POST /v1/transactions/commit`, the service specification's path: the catalog is named by `catalog` in each identifier, or for all of them
 * in the body; it need not be when the tenant has one only. The tables may be of several catalogs.
 */
export async function commitAcrossCatalogs(context: CatalogContext, request: RestRequest): Promise<Answer> {
  const named = optionalString(asObject(request.body, 'commit transaction request'), 'catalog');
  const [first, ...others] =
    named === undefined ? await listCatalogs(context.store.db, request.claims.tenant) : [named];
  return commit(context, request, others.length === 0 ? first : undefined);
}

/** @param catalog of the identifiers that name none */
async function commit(context: CatalogContext, request: RestRequest, catalog: string | undefined): Promise<Answer> {
  const list = requiredArray(asObject(request.body, 'commit transaction request'), 'table-changes');
  if (list.length === 0 || list.length > TABLES_MAX) {
    throw new SkeinError(
      'INVALID_REQUEST',
      `Invalid transaction: it changes ${list.length} tables, 1 to ${TABLES_MAX} are allowed`,
    );
  }
  const changes = list.map((json): TableChange => parseChange(request, json, catalog));
  const names = new Set(changes.map(({ target }) => JSON.stringify([target.catalog, target.ident])));
  if (names.size < changes.length) {
    throw new SkeinError('INVALID_REQUEST', `Invalid transaction: a table is changed twice`);
  }
  await commitTables(context, changes);
  return NO_CONTENT;
}

function parseChange(request: RestRequest, json: Json, catalog: string | undefined): TableChange {
  const identifier = get(asObject(json, 'table change'), 'identifier');
  const ident = identOfJson(identifier, 'identifier');
  const named = request.params['prefix'] ?? optionalString(asObject(identifier, 'identifier'), 'catalog') ?? catalog;
  if (named === undefined) {
    throw new SkeinError('INVALID_REQUEST', `${displayIdent(ident)}: which catalog? Name it by "catalog"`);
  }
  try {
    return { target: { claims: request.claims, catalog: named, ident }, request: parseCommit(json) };
  } catch (error) {
    if (!(error instanceof SkeinError)) throw error;
    throw new SkeinError(error.code, `${displayIdent(ident)}: ${error.message}`, { cause: error });
  }
}
