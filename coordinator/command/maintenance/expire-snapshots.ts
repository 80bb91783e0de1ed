import { expiredFiles, expiredSnapshots, expiryChange, expiryDefaults } from '#shared/iceberg/expired-snapshots.ts';
import type { TableMetadata } from '#shared/iceberg/table-metadata.ts';
import { removeFiles } from '#shared/storage/files-stayed.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import { loadForWrite, loadWithFiles } from '../../catalog-client/write-catalog.ts';
import type { TableName } from '../../binding/table-source.ts';
import { callersTables } from '../../session/callers-tables.ts';
import type { CommandContext } from '../../operation/command-context.ts';
import { changeTable } from '../../operation/change-table.ts';
import { requireCollectable } from './collectable.ts';
import { deletedFiles, type Procedure } from './procedure.ts';
import { durationValue } from './values.ts';
import { statementUse } from '../../catalog-client/fresh-key.ts';

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
    const { deleted, stayed } =
      found.snapshotIds.length === 0
        ? { deleted: 0, stayed: 0 }
        : await removeUnreachable(context, { table, base, found, dryRun });
    return [
      ['expired_snapshots_count', found.snapshotIds.length],
      ['expired_refs_count', found.refs.length],
      ...deletedFiles(deleted, stayed),
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
 * Removes the files that only expired snapshots reach, of the table as it stands now: what was committed meanwhile is kept. @returns how
 * many went, and how many could not be deleted
 */
async function removeUnreachable(
  context: CommandContext,
  { table, base, found, dryRun }: Removal,
): Promise<{ readonly deleted: number; readonly stayed: number }> {
  const { catalog, caller, signal, log } = context;
  const loaded = await loadWithFiles(context, callersTables(catalog, caller), { name: table, signal });
  const { metadata, allowedRoots, credential } = loaded;
  const none = { deleted: 0, stayed: 0 };
  if (!dryRun && found.snapshotIds.some((id) => metadata.snapshots.has(id))) return none;
  const files = expiredFiles(base, metadata, found.snapshotIds);
  if (files === null) return none;
  const request = { ...files, allowedRoots, credential };
  const tableName = [table.catalog, ...table.namespace, table.table].join('.');
  const storage = openStorage(metadata.location, credential, statementUse(catalog, caller.claims.tenant, { signal }));
  const pause = (): void => signal.throwIfAborted();
  let count = 0;
  let stayed = 0;
  for await (const paths of context.files.unreachable(request, { tableName, signal })) {
    count += paths.length;
    if (!dryRun) stayed += await removeFiles(storage, paths, { log, table: tableName, pause });
  }
  return { deleted: count - stayed, stayed };
}
