import { schemaById } from '#shared/iceberg/table-metadata.ts';
import type { Field } from '#shared/iceberg/type.ts';
import type { SqlField } from '../planner/sql-type.ts';
import type { TableRows } from '../rows/table-rows.ts';
import { fieldType } from './iceberg-sql-type.ts';
import type { ScanBinding } from './scan-binding.ts';
import type { TablePolicies } from './table-policies.ts';

/**
 * The meaning of a table's name in one statement, before the data is read: an Iceberg table at a snapshot, or rows that travel with the
 * task.
 */
export type TableBinding = ScanBinding | RowsBinding;

export type RowsBinding = { readonly kind: 'rows'; readonly rows: TableRows; readonly policies: TablePolicies };

/** The table's name, for messages and EXPLAIN. */
export const bindingName = (binding: TableBinding): string =>
  binding.kind === 'rows' ? binding.rows.title : binding.tableName;

/** The number of its rows; null = unknown. */
export const bindingRows = (binding: TableBinding): number | null =>
  binding.kind === 'rows' ? binding.rows.rowCount : binding.rowCount;

/** The fields of an Iceberg table, which predicates are made over; rows have none. */
export const icebergFields = (binding: TableBinding): readonly Field[] =>
  binding.kind === 'rows' ? [] : [...schemaById(binding.metadata, binding.schemaId).fields, ...binding.addresses];

/** The columns as DuckDB sees them. */
export const sqlFields = (binding: TableBinding): readonly SqlField[] =>
  binding.kind === 'rows' ? binding.rows.columns : icebergFields(binding).map(fieldType);
