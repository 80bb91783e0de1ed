import { SkeinError } from '#shared/error.ts';
import { requireOpenFiles } from '../../../authorization/policies.ts';
import type { CatalogContext } from '../../../context.ts';
import { withTable } from '../../../commit/with-table.ts';
import { runDocumentTask } from '../../../metadata/document-task.ts';
import { REFERENCED_ONLY } from '../../../commit/swap-metadata.ts';
import { displayIdent } from '../../../metadata/object-name.ts';
import { tableTarget } from '../../request-names.ts';
import { ofNamedTable } from '../../files-gate.ts';
import { accessToTable, findFiles } from '../../table-access.ts';
import type { Answer, RestRequest } from '../../rest-operation.ts';
import { etagOf, loadTableAnswer, type SnapshotMode } from './table-answer.ts';

/**
 * `GET /v1/{prefix}/namespaces/{namespace}/tables/{table}`: answers from Postgres, after a check that the metadata file still exists,
 * because clients read it. 304 when `If-None-Match` names the current version, but never to a client that is given access to the files: what
 * it had may have expired.
 */
export async function loadTable(context: CatalogContext, request: RestRequest): Promise<Answer> {
  const mode = snapshotMode(request.query['snapshots']);
  const target = tableTarget(request);
  const { ident } = target;
  const files = findFiles(context, request, ident);
  return withTable(context, target, async (row) => {
    requireOpenFiles(row, request);
    if (!(await context.storages.exists(row.metadataLocation))) {
      throw new SkeinError('TABLE_METADATA_MISSING', `Failed to open input stream for file: ${row.metadataLocation}`);
    }
    const access = await accessToTable(context, request, ident, { tableId: row.id, files });
    const etag = etagOf(row.metadataLocation, mode, access);
    if (access.variant === undefined && matches(request.headers['if-none-match'], etag)) {
      return { status: 304, headers: { etag } };
    }
    if (mode === 'all') return loadTableAnswer(row, mode, access);
    const metadata = await runDocumentTask(context.readers, REFERENCED_ONLY, row.metadata, {
      bytes: row.metadata.length,
      owner: target.claims.tenant,
      what: `the metadata of ${displayIdent(ident)}`,
    });
    return loadTableAnswer({ ...row, metadata }, mode, access);
  });
}

/**
 * Loads a table of the path's namespace by name: the answer to a repeated request whose change was made before. The table may have got policies
 * since, and the path of the request may name another one.
 */
export async function loadNamedTable(context: CatalogContext, request: RestRequest, name: string): Promise<Answer> {
  const named = { ...request, params: { ...request.params, table: name } };
  await ofNamedTable(context, named);
  const target = tableTarget(named);
  return withTable(context, target, async (row) => {
    requireOpenFiles(row, request);
    return loadTableAnswer(row, 'all', await accessToTable(context, request, target.ident));
  });
}

/** Loads the table that the path names, as `loadNamedTable`. */
export const loadTableAgain = (context: CatalogContext, request: RestRequest): Promise<Answer> =>
  loadNamedTable(context, request, request.params['table'] ?? '');

function snapshotMode(text: string | undefined): SnapshotMode {
  const mode = text?.toLowerCase() ?? 'all';
  if (mode === 'all' || mode === 'refs') return mode;
  throw new SkeinError('INVALID_REQUEST', `Invalid snapshots mode: ${text}`);
}

const matches = (header: string | undefined, etag: string): boolean =>
  header !== undefined &&
  header.split(',').some((entry) => entry.trim() === '*' || entry.trim().replace(/^W\//, '') === etag);
