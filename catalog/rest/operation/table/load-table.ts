import { SkeinError } from '#shared/error.ts';
import { parseJson } from '#shared/json.ts';
import type { CatalogContext } from '../../../context.ts';
import { metadataText } from '../../../commit/print-metadata.ts';
import type { TableMetadata } from '../../../commit/table-metadata.ts';
import { requireTable } from '../../../store/postgres/table-store.ts';
import { tableTarget } from '../../names.ts';
import type { Answer, RestRequest } from '../../operation.ts';
import { etagOf, loadTableAnswer, type SnapshotMode } from './table-answer.ts';

/**
 * `GET /v1/{prefix}/namespaces/{namespace}/tables/{table}`: from Postgres, after a look whether the metadata file is still there, because
 * clients read that. 304 when `If-None-Match` names what the client would get.
 */
export async function loadTable(context: CatalogContext, request: RestRequest): Promise<Answer> {
  const mode = snapshotMode(request.query['snapshots']);
  const target = tableTarget(request);
  const row = await requireTable(context.store.db, target.claims.tenant, target.catalog, target.ident);
  if (!(await context.io.exists(row.metadataLocation))) {
    throw new SkeinError('TABLE_METADATA_MISSING', `Failed to open input stream for file: ${row.metadataLocation}`);
  }
  const etag = etagOf(row.metadataLocation, mode);
  if (matches(request.headers['if-none-match'], etag)) return { status: 304, headers: { etag } };
  return loadTableAnswer(mode === 'all' ? row : { ...row, metadata: referencedOnly(row.metadata) }, mode);
}

/** The whole table of a name in the namespace of the path: the answer to a change of it that was made before. */
export async function loadNamedTable(context: CatalogContext, request: RestRequest, name: string): Promise<Answer> {
  const { ident, catalog, claims } = tableTarget({ ...request, params: { ...request.params, table: name } });
  return loadTableAnswer(await requireTable(context.store.db, claims.tenant, catalog, ident), 'all');
}

/** The same of the table of the path. */
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

/** The metadata without the snapshots that no branch or tag points to; histories stay. */
function referencedOnly(text: string): string {
  const metadata = parseJson(text) as unknown as TableMetadata;
  const referenced = new Set(Object.values(metadata.refs).map((ref) => ref['snapshot-id']));
  const snapshots = metadata.snapshots.filter((snapshot) => referenced.has(snapshot['snapshot-id']));
  return metadataText({ ...metadata, snapshots });
}
