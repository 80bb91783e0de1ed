import { SkeinError } from '#shared/error.ts';
import type { Json } from '#shared/json.ts';
import type { CatalogContext } from '../../../context.ts';
import { commitTables, type TableChange } from '../../../commit/commit-tables.ts';
import { parseCommit } from '../../../commit/commit-metadata.ts';
import { asObject, get, requiredArray } from '../../../commit/json-reader.ts';
import { displayIdent } from '../../../store/postgres/table-store.ts';
import { identOfJson } from '../../names.ts';
import { NO_CONTENT, type Answer, type RestRequest } from '../../operation.ts';

/** Tables of one transaction. */
const TABLES_MAX = 100;

/** `POST /v1/{prefix}/transactions/commit`: commits to several tables, all or none. */
export async function commitTransaction(context: CatalogContext, request: RestRequest): Promise<Answer> {
  const list = requiredArray(asObject(request.body, 'commit transaction request'), 'table-changes');
  if (list.length === 0 || list.length > TABLES_MAX) {
    throw new SkeinError(
      'INVALID_REQUEST',
      `Invalid transaction: it changes ${list.length} tables, 1 to ${TABLES_MAX} are allowed`,
    );
  }
  const changes = list.map((json): TableChange => parseChange(request, json));
  const names = new Set(changes.map(({ target }) => JSON.stringify(target.ident)));
  if (names.size < changes.length) {
    throw new SkeinError('INVALID_REQUEST', `Invalid transaction: a table is changed twice`);
  }
  await commitTables(context, changes);
  return NO_CONTENT;
}

function parseChange(request: RestRequest, json: Json): TableChange {
  const ident = identOfJson(get(asObject(json, 'table change'), 'identifier'), 'identifier');
  try {
    return {
      target: { claims: request.claims, catalog: request.params['prefix'] ?? '', ident },
      request: parseCommit(json),
    };
  } catch (error) {
    if (!(error instanceof SkeinError)) throw error;
    throw new SkeinError(error.code, `${displayIdent(ident)}: ${error.message}`, { cause: error });
  }
}
