import { SkeinError } from '#shared/error.ts';
import { isProtected } from '#shared/iceberg/expired-snapshots.ts';
import type { TableMetadata } from '#shared/iceberg/table-metadata.ts';

/** @throws NOT_SUPPORTED for a table whose files belong to someone else */
export function requireCollectable(table: Pick<TableMetadata, 'properties'>, position: number): void {
  if (!isProtected(table)) return;
  throw new SkeinError('NOT_SUPPORTED', 'the table forbids it: gc.enabled is false', { position });
}
