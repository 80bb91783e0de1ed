import { schemaById } from '#shared/iceberg/table-metadata.ts';
import type { Field } from '#shared/iceberg/type.ts';
import type { SqlField } from '../plan/sql-type.ts';
import { fieldType } from '../plan/iceberg-sql-type.ts';
import type { ScanBinding } from './scan-binding.ts';
import type { RowsBinding, StagedBinding } from './statement-binding.ts';

/**
 * The meaning of a table's name in one statement, before the data is read: an Iceberg table at a snapshot, files of a stage, or rows
 * that travel with the task.
 */
export type TableBinding = ScanBinding | StagedBinding | RowsBinding;

/** The table's name, for messages and EXPLAIN. */
export function bindingName(binding: TableBinding): string {
  if (binding.kind === 'iceberg') return binding.tableName;
  return binding.kind === 'rows' ? binding.rows.title : binding.table.title;
}

/** The number of its rows; null = unknown. */
export function bindingRows(binding: TableBinding): number | null {
  if (binding.kind === 'iceberg') return binding.rowCount;
  return binding.kind === 'rows' ? binding.rows.rowCount : binding.table.rowCount;
}

/** The fields of an Iceberg table, which predicates are made over; anything else has none. */
export const icebergFields = (binding: TableBinding): readonly Field[] =>
  binding.kind === 'iceberg' ? [...schemaById(binding.metadata, binding.schemaId).fields, ...binding.addresses] : [];

/** The columns as DuckDB sees them. */
export function sqlFields(binding: TableBinding): readonly SqlField[] {
  if (binding.kind === 'iceberg') return icebergFields(binding).map(fieldType);
  return binding.kind === 'rows' ? binding.rows.columns : binding.table.columns;
}
