import { SkeinError } from '#shared/error.ts';
import { loadForWrite } from '../../catalog-client/write-catalog.ts';
import { requireUnpoliced } from '../../operation/policed-table.ts';
import { changeTable } from '../../operation/change-table.ts';
import type { Procedure } from './procedure.ts';
import { integerValue } from './values.ts';

/** `rollback_to_snapshot(snapshot_id => 17)`: makes an ancestor of the current snapshot the current one. No snapshot goes. */
export const rollbackToSnapshot: Procedure = {
  parameters: ['snapshot_id'],
  async run(table, values, { context, dryRun, position }) {
    const { value: snapshotId, position: at } = integerValue(values, 'snapshot_id', position);
    const loaded = await loadForWrite(context.tables, table, context.signal);
    requireUnpoliced(loaded, 'a rollback', position);
    const { metadata } = loaded;
    const { snapshots, currentSnapshotId } = metadata;
    const seen = new Set<bigint>();
    let id = currentSnapshotId;
    for (; id !== null && id !== snapshotId && !seen.has(id); id = snapshots.get(id)?.parentSnapshotId ?? null) {
      seen.add(id);
    }
    if (id !== snapshotId || !snapshots.has(snapshotId)) {
      const why = snapshots.has(snapshotId) ? 'is no ancestor of the current one' : 'does not exist, or has expired';
      throw new SkeinError('SNAPSHOT_NOT_FOUND', `snapshot ${snapshotId} ${why}`, { position: at });
    }
    if (!dryRun && snapshotId !== currentSnapshotId) {
      const requirements = [{ type: 'assert-ref-snapshot-id', ref: 'main', 'snapshot-id': currentSnapshotId }];
      const retention = metadata.refs.get('main')?.retention ?? {};
      const update = { action: 'set-snapshot-ref', 'ref-name': 'main', type: 'branch', 'snapshot-id': snapshotId };
      await changeTable(context, table, () => ({ requirements, updates: [{ ...update, ...retention }] }));
    }
    return [
      ['current_snapshot_id', snapshotId],
      ['previous_snapshot_id', currentSnapshotId],
    ];
  },
};
