import { SkeinError } from '#shared/error.ts';
import type { CatalogContext } from '../../../context.ts';
import { asObject, get } from '../../../metadata/json-reader.ts';
import { requireAction } from '../../../authorization/decide.ts';
import { requireNotLent } from '../../../policy/protect-tables.ts';
import { holdNamespace } from '../../../store/postgres/namespace-store.ts';
import { displayIdent, type TableIdent } from '../../../metadata/object-name.ts';
import { moveTable, requireTableHead, tableNotFound } from '../../../store/postgres/table-store.ts';
import { identOfJson } from '../../../metadata/check-name.ts';
import { NO_CONTENT, type Answer, type RestRequest } from '../../rest-operation.ts';
import type { UnitOfWork } from '../../../store/postgres/transact.ts';

/** `POST /v1/{prefix}/tables/rename`: renames a table, also into another namespace of the catalog. Its location stays. */
export async function renameTable(_context: CatalogContext, request: RestRequest, unit: UnitOfWork): Promise<Answer> {
  const { claims, params } = request;
  const { prefix: catalog = '' } = params;
  const body = asObject(request.body, 'rename table request');
  const source = identOfJson(get(body, 'source'), 'source');
  const destination = identOfJson(get(body, 'destination'), 'destination');
  requireAction(claims, 'table.rename', { kind: 'table', catalog, ...source });
  await unit.transact(async (tx) => {
    const row = await requireTableHead(tx, claims.tenant, catalog, source);
    await requireNotLent(tx, row.id);
    const namespace = await holdNamespace(tx, row.catalogId, destination.namespace);
    const names = { from: source, to: destination };
    const moved = await moveTable(tx, row, namespace.id, names).catch((error: unknown) => {
      throw renameError(error, source, destination);
    });
    if (!moved) tableNotFound(source);
  });
  return NO_CONTENT;
}

/** Maps the error of a view with the new name to the words that Iceberg's clients expect of a rename. */
function renameError(error: unknown, from: TableIdent, to: TableIdent): unknown {
  if (!(error instanceof SkeinError) || error.code !== 'ALREADY_EXISTS') return error;
  const message = `Cannot rename ${displayIdent(from)} to ${displayIdent(to)}. View already exists`;
  return new SkeinError('ALREADY_EXISTS', message, { cause: error });
}
