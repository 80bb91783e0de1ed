import { randomUUID } from 'node:crypto';
import { manifestBytes, rootsOf } from '#shared/iceberg/write/commit-writes.ts';
import { mergeAllManifests, type ManifestMerging } from '#shared/iceberg/write/merge-manifests.ts';
import type { SnapshotChange } from '#shared/iceberg/write/snapshot-change.ts';
import { NOTHING_ADDED } from '#shared/iceberg/write/snapshot-summary.ts';
import type { TableName } from '../binding/table-source.ts';
import { commitTable } from './commit-table.ts';
import type { WriteParts } from './write-services.ts';
import { targetOf } from './write-target.ts';

/** Writes small manifests of a table into larger ones, in a snapshot of the same files. */
export async function optimizeManifests(
  table: TableName,
  { dryRun }: { readonly dryRun: boolean },
  parts: WriteParts,
): Promise<{ readonly rewritten: number; readonly added: number }> {
  const { context } = parts;
  const target = await targetOf(table, context);
  const { base, name, credential } = target;
  const { currentSnapshotId: snapshotId } = base;
  if (snapshotId === null) return { rewritten: 0, added: 0 };
  const { tableUuid, formatVersion, location, fields, specs, defaultSpecId, snapshots } = base;
  const known = { tableUuid, formatVersion, location, fields, specs, defaultSpecId, snapshots };
  const allowedRoots = rootsOf(base);
  const reader = context.files.manifests({ name, credential });
  const manifests = await reader.list({ table: known, snapshotId, allowedRoots });
  const merging = mergeAllManifests(base.properties, allowedRoots, manifestBytes(base));
  const bins = merging.bins(manifests, null);
  if (!dryRun && bins.length > 0) {
    const change = rearranged(merging);
    await commitTable(parts, target, { writeId: randomUUID(), change, appended: null, open: undefined });
  }
  return { rewritten: bins.reduce((sum, { length }) => sum + length, 0), added: bins.length };
}

/** The change that leaves the files as they are, in merged manifests. */
const rearranged = (merging: ManifestMerging): SnapshotChange => ({
  operation: 'replace',
  counts: NOTHING_ADDED,
  manifests: (writer, parent) => merging.apply(writer, parent),
});
