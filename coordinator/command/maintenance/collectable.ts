import { SkeinError } from '#shared/error.ts';
import { foldKeyword } from '#shared/sql/fold-identifier.ts';
import type { TableMetadata } from '#shared/iceberg/table-metadata.ts';

/** @throws NOT_SUPPORTED for a table whose files belong to someone else */
export function requireCollectable({ properties }: Pick<TableMetadata, 'properties'>, position: number): void {
  if (foldKeyword(properties['gc.enabled'] ?? '') !== 'FALSE') return;
  throw new SkeinError('NOT_SUPPORTED', 'the table forbids it: gc.enabled is false', { position });
}
