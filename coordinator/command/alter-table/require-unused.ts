import { SkeinError } from '#shared/error.ts';
import type { TableDraft } from './table-draft.ts';

/** @throws COLUMN_IN_USE when the table is partitioned or sorted by the column, or it is part of the key */
export function requireUnused(
  { partitions, sortOrder, identifierFieldIds }: TableDraft,
  { id, path, position }: { readonly id: number; readonly path: string; readonly position: number },
): void {
  const isPartition = partitions.some(({ sourceId, transform }) => sourceId === id && transform.kind !== 'void');
  const uses = [
    ...(isPartition ? ['the table is partitioned by it'] : []),
    ...(sortOrder.some(({ sourceId }) => sourceId === id) ? ['the table is sorted by it'] : []),
    ...(identifierFieldIds.includes(id) ? ['it is part of the PRIMARY KEY'] : []),
  ];
  if (uses.length === 0) return;
  throw new SkeinError('COLUMN_IN_USE', `column ${path} is in use: ${uses.join(', ')}`, { position });
}
