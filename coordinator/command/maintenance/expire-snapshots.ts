import { expiredFiles, expiredSnapshots, expiryChange, expiryDefaults } from '#shared/iceberg/expired-snapshots.ts';
import { NONE_REMOVED, addRemoved, removeOwnFiles, type RemovedFiles } from '#shared/iceberg/own-files.ts';
import type { TableMetadata } from '#shared/iceberg/table-metadata.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import { loadForWrite, loadOwnFiles } from '../../catalog-client/write-catalog.ts';
import type { TableName } from '../../binding/table-source.ts';
import { callersTables } from '../../session/callers-tables.ts';
import type { CommandContext } from '../../operation/command-context.ts';
import { changeTable } from '../../operation/change-table.ts';
import { requireCollectable } from './collectable.ts';
import { deletionMetrics, type Procedure } from './procedure.ts';
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
      return expiredSnapshots(
        metadata,
        expiryDefaults(metadata, context.config['snapshot.bookmark_keys'], threshold),
        Date.now(),
      );
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
    const removed =
      found.snapshotIds.length === 0 ? NONE_REMOVED : await removeUnreachable(context, { table, base, found, dryRun });
    return [
      ['expired_snapshots_count', found.snapshotIds.length],
      ['expired_refs_count', found.refs.length],
      ...deletionMetrics(removed),
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
 * Removes the files that only expired snapshots reach, of the table as it stands now: what was committed meanwhile is kept, and files in
 * folders that are not the table's.
 */
async function removeUnreachable(
  context: CommandContext,
  { table, base, found, dryRun }: Removal,
): Promise<RemovedFiles> {
  const { catalog, caller, signal, log } = context;
  const loaded = await loadOwnFiles(context, callersTables(catalog, caller), { name: table, signal });
  const { metadata, allowedRoots, credential, own } = loaded;
  if (!dryRun && found.snapshotIds.some((id) => metadata.snapshots.has(id))) return NONE_REMOVED;
  const files = expiredFiles(base, metadata, found.snapshotIds);
  if (files === null) return NONE_REMOVED;
  const request = { ...files, allowedRoots, credential };
  const tableName = [table.catalog, ...table.namespace, table.table].join('.');
  const storage = openStorage(metadata.location, credential, statementUse(catalog, caller.claims.tenant, { signal }));
  const removal = { ...own, log, table: tableName, pause: (): void => signal.throwIfAborted(), dryRun };
  let removed = NONE_REMOVED;
  for await (const paths of context.files.unreachable(request, { tableName, signal })) {
    removed = addRemoved(removed, await removeOwnFiles({ open: () => Promise.resolve(storage) }, paths, removal));
  }
  return removed;
}
