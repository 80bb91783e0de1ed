import { currentSchema, specById, type TableMetadata } from '#shared/iceberg/table-metadata.ts';
import type { TableClauses } from '../clause/table-clauses.ts';
import { newTable, type FormatVersion, type NewTable } from './new-table.ts';

/** Properties that belong to one table: whose it is, when it was made, where it lies. */
export const OWN_PROPERTIES: ReadonlySet<string> = new Set([
  'owner',
  'created_at',
  'created-at',
  'location',
  'write.data.path',
  'write.metadata.path',
  'write.object-storage.path',
  'write.folder-storage.path',
  'schema.name-mapping.default',
]);

/**
 * A new table with the columns, key, partitions, sort order, comment and properties of another; clauses of the statement win.
 * @throws as `newTable`
 */
export function tableLike(source: TableMetadata, clauses: TableClauses, formatVersion: FormatVersion): NewTable {
  const { fields, identifierFieldIds } = currentSchema(source);
  const table = newTable({ fields, identifierFieldIds }, clauses, formatVersion);
  const copied = Object.entries(source.properties).filter(([name]) => !OWN_PROPERTIES.has(name));
  const spec = specById(source, source.defaultSpecId);
  return {
    ...table,
    partitions:
      clauses.partitionedBy === undefined
        ? spec.fields.filter(({ transform }) => transform.kind !== 'void')
        : table.partitions,
    sortOrder: clauses.sortedBy === undefined ? source.sortOrder : table.sortOrder,
    properties: { ...Object.fromEntries(copied), ...table.properties },
  };
}
