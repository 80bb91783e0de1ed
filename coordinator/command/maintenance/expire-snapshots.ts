import { expiredFiles, expiredSnapshots, expiryChange, expiryDefaults } from '#shared/iceberg/expired-snapshots.ts';
import type { TableMetadata } from '#shared/iceberg/table-metadata.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import { loadForWrite, loadWithFiles } from '../../catalog-client/write-catalog.ts';
import type { TableName } from '../../binding/table-source.ts';
import { callersTables } from '../../session/callers-tables.ts';
import type { CommandContext } from '../../operation/command-context.ts';
import { changeTable } from '../../operation/change-table.ts';
import { requireCollectable } from './collectable.ts';
import type { Procedure } from './procedure.ts';
import { durationValue } from './values.ts';
import { statementUse } from '../../catalog-client/fresh-key.ts';

/** Locations that one call to the storage removes. */
const REMOVED_AT_ONCE = 1_000;

/**
 * `expire_snapshots(retention_threshold => '7d')`: removes the snapshots and references that have expired, and then the files that no
 * snapshot reaches any more. Without a threshold the table's property counts, or 7 days.
 */
export const expireSnapshots: Procedure = {
  parameters: ['retention_threshold'],
  async run(table, values, { context, dryRun, position }) {
    const threshold = durationValue(values, 'retention_threshold');
    const expired = (metadata: TableMetadata) => {
      requireCollectable(metadata, position);
      return expiredSnapshots(metadata, expiryDefaults(metadata, threshold), Date.now());
    };
    let base = (await loadForWrite(context.tables, table, context.signal)).metadata;
    let found = expired(base);
    if (!dryRun) {
      await changeTable(context, table, (now) => {
        base = now;
        found = expired(now);
        return expiryChange(now, found);
      });
    }
    const files = found.snapshotIds.length === 0 ? 0 : await removeFiles(context, { table, base, found, dryRun });
    return [
      ['expired_snapshots_count', found.snapshotIds.length],
      ['expired_refs_count', found.refs.length],
      ['deleted_files_count', files],
    ];
  },
};

type Removal = {
  readonly table: TableName;
  /** The table as it was before its snapshots were removed. */
  readonly base: TableMetadata;
  readonly found: { readonly snapshotIds: readonly bigint[] };
  readonly dryRun: boolean;
};

/**
 * Removes the files that only expired snapshots reach, of the table as it stands now: what was committed meanwhile is kept. @returns their
 * number
 */
async function removeFiles(context: CommandContext, { table, base, found, dryRun }: Removal): Promise<number> {
  const { catalog, caller, signal } = context;
  const loaded = await loadWithFiles(context, callersTables(catalog, caller), { name: table, signal });
  const { metadata, allowedRoots, credential } = loaded;
  if (!dryRun && found.snapshotIds.some((id) => metadata.snapshots.has(id))) return 0;
  const files = expiredFiles(base, metadata, found.snapshotIds);
  if (files === null) return 0;
  const request = { ...files, allowedRoots, credential };
  const tableName = [table.catalog, ...table.namespace, table.table].join('.');
  const storage = openStorage(metadata.location, credential, statementUse(catalog, caller.claims.tenant, signal));
  let count = 0;
  for await (const paths of context.files.unreachable(request, { tableName, signal })) {
    count += paths.length;
    if (dryRun) continue;
    for (let start = 0; start < paths.length; start += REMOVED_AT_ONCE) {
      signal.throwIfAborted();
      await storage.remove(paths.slice(start, start + REMOVED_AT_ONCE));
    }
  }
  return count;
}
