import type { TenantId } from '#shared/id.ts';
import type { ManifestReader } from '#shared/iceberg/write/rewrite-manifests.ts';
import type { TableReader } from '#shared/iceberg/table-reader.ts';
import type { CommittedTable } from '../operation/command-context.ts';

/** Reads the manifests of a table that a commit changes: small ones here, others in a thread. */
export function commitManifests(
  reader: TableReader,
  { name, credential }: CommittedTable,
  { tenant, signal }: { readonly tenant: TenantId; readonly signal: AbortSignal },
): ManifestReader {
  const call = { tableName: [name.catalog, ...name.namespace, name.table].join('.'), signal };
  return {
    list: (request) => reader.list({ ...request, tenant, credential }, call),
    rewrite: (request) => reader.rewrite({ ...request, tenant, credential }, call),
    remove: (request) => reader.remove({ ...request, tenant, credential }, call),
    newDeletes: (request) => reader.newDeletes({ ...request, tenant, credential }, call),
    find: (request) => reader.find({ ...request, tenant, credential }, call),
  };
}
