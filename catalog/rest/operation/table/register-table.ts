import { SkeinError } from '#shared/error.ts';
import { parseJson, type Json } from '#shared/json.ts';
import { normalizeLocation } from '#shared/storage/location.ts';
import { FileNotFound } from '#shared/storage/file-io.ts';
import type { CatalogContext } from '../../../context.ts';
import { printMetadata, requireFree } from '../../../commit/commit-tables.ts';
import { asObject, optionalBoolean, requiredString } from '../../../commit/json-reader.ts';
import { parseTableMetadata } from '../../../commit/parse-table-metadata.ts';
import { checkLocations, requireBelowRoot } from '../../../storage/table-location.ts';
import { requireCatalog } from '../../../store/postgres/catalog-store.ts';
import { requireNamespace } from '../../../store/postgres/namespace-store.ts';
import {
  findTable,
  insertTable,
  lockLocations,
  swapMetadata,
  tableExists,
} from '../../../store/postgres/table-store.ts';
import { checkName, namespaceOf } from '../../names.ts';
import type { Answer, RestRequest } from '../../operation.ts';
import { loadTableAnswer } from './table-answer.ts';

/**
 * `POST /v1/{prefix}/namespaces/{namespace}/register`: a table from a metadata file that lies in the catalog's root. With `overwrite` it
 * takes the place of a table of that name. The file stays as it is and becomes the table's current metadata.
 */
export async function registerTable(context: CatalogContext, request: RestRequest): Promise<Answer> {
  const body = asObject(request.body, 'register table request');
  const name = checkName(requiredString(body, 'name'), 'table');
  const file = requiredString(body, 'metadata-location');
  const overwrite = optionalBoolean(body, 'overwrite') ?? false;
  const { tenant } = request.claims;
  const prefix = request.params['prefix'] ?? '';
  const ident = { namespace: namespaceOf(request.params['namespace'] ?? ''), name };

  const catalog = await requireCatalog(context.store.db, tenant, prefix);
  if ((await findTable(context.store.db, tenant, prefix, ident)) !== undefined && !overwrite) throw tableExists(ident);
  const metadata = parseTableMetadata(await readMetadata(context, file, catalog.location));
  checkLocations(metadata, undefined, catalog.location);
  const row = {
    location: normalizeLocation(metadata.location),
    metadataLocation: file,
    metadata: printMetadata(context, metadata),
  };
  await context.store.db.transaction().execute(async (tx) => {
    await lockLocations(tx, catalog.id, 'exclusive');
    const existing = await findTable(tx, tenant, prefix, ident);
    if (existing !== undefined && !overwrite) throw tableExists(ident);
    await requireFree(tx, catalog.id, row.location, existing?.id);
    if (existing === undefined) {
      const namespace = await requireNamespace(tx, catalog.id, ident.namespace);
      await insertTable(tx, { catalogId: catalog.id, namespaceId: namespace.id, ident, ...row });
    } else if (!(await swapMetadata(tx, existing, row))) {
      throw new SkeinError('COMMIT_CONFLICT', 'Commit failed: another commit came first');
    }
  });
  return loadTableAnswer({ metadataLocation: file, metadata: row.metadata }, 'all');
}

/** @throws INVALID_REQUEST; TABLE_METADATA_MISSING when the file is not there. */
async function readMetadata(context: CatalogContext, file: string, root: string): Promise<Json> {
  requireBelowRoot(file, root);
  try {
    const bytesMax = context.config['catalog.metadata_bytes_max'];
    if ((await context.io.sizeBytes(file)) > bytesMax) {
      throw new SkeinError('INVALID_REQUEST', `the metadata file is larger than ${bytesMax} bytes`);
    }
    return parseJson(Buffer.from(await context.io.read(file)).toString());
  } catch (error) {
    if (error instanceof FileNotFound) {
      throw new SkeinError('TABLE_METADATA_MISSING', `Failed to open input stream for file: ${file}`, { cause: error });
    }
    if (error instanceof SyntaxError || error instanceof RangeError) {
      throw new SkeinError('INVALID_REQUEST', `Cannot parse table metadata: ${file}`, { cause: error });
    }
    throw error;
  }
}
