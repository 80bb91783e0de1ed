import type { TableBinding } from '../binding/table-binding.ts';
import type { LoadedTable, TableLoader } from '../binding/table-source.ts';
import type { ScanBinding } from '../binding/scan-binding.ts';
import { must } from '#shared/must.ts';

/**
 * Whether the tables of a query may still be read as they were bound: their snapshots have not expired, the caller may still select from
 * them, under the same policies. Files of an expired snapshot may have been deleted. @throws CATALOG_UNAVAILABLE
 */
export async function stillReadable(
  bindings: readonly TableBinding[],
  source: TableLoader,
  signal: AbortSignal,
): Promise<boolean> {
  const scans = bindings.flatMap((binding) => {
    if (binding.kind === 'iceberg') return [binding];
    if (binding.kind !== 'policed') return [];
    const { table, policies, reading } = binding;
    return [{ ...table, policies }, ...reading.scans.filter((_, i) => i !== reading.source)];
  });
  const names = scans.map(({ name }) => name);
  const loaded = names.length === 0 ? [] : await source.loadTables(names, signal);
  return scans.every((scan, i) => isReadable(scan, must(loaded[i], 'one answer for each name')));
}

function isReadable({ tableUuid, snapshotId, policies }: ScanBinding, table: LoadedTable): boolean {
  if (table.kind !== 'found' || table.metadata.tableUuid !== tableUuid) return false;
  if (!table.actions.has('table.select') || table.policyVersion !== policies.version) return false;
  return snapshotId === null || table.metadata.snapshots.has(BigInt(snapshotId));
}
