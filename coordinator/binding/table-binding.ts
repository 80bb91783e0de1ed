import { schemaById } from '#shared/iceberg/table-metadata.ts';
import type { Field } from '#shared/iceberg/type.ts';
import { unreachable } from '#shared/must.ts';
import type { ReadField } from '../plan/scan-predicates.ts';
import type { SqlField } from '../plan/sql-type.ts';
import { fieldType } from '../plan/iceberg-sql-type.ts';
import { POLICED_ROWS, type PolicedBinding } from './policed-binding.ts';
import type { ScanBinding } from './scan-binding.ts';
import type { RowsBinding, StagedBinding } from './statement-binding.ts';
import type { TablePolicies } from './table-policies.ts';

/**
 * The meaning of a table's name in one statement, before the data is read: an Iceberg table at a snapshot, such a table below policies, files
 * of a stage, or rows that travel with the task.
 */
export type TableBinding = ScanBinding | PolicedBinding | StagedBinding | RowsBinding;

/** The table's name, for messages and EXPLAIN. */
export function bindingName(binding: TableBinding): string {
  switch (binding.kind) {
    case 'iceberg':
      return binding.tableName;
    case 'policed':
      return binding.table.tableName;
    case 'rows':
      return binding.rows.title;
    case 'staged':
      return binding.table.title;
    default:
      return unreachable(binding);
  }
}

/** The number of its rows; null = unknown. */
export function bindingRows(binding: TableBinding): number | null {
  switch (binding.kind) {
    case 'iceberg':
      return binding.rowCount;
    case 'policed':
      return POLICED_ROWS;
    case 'rows':
      return binding.rows.rowCount;
    case 'staged':
      return binding.table.rowCount;
    default:
      return unreachable(binding);
  }
}

/** The fields of an Iceberg table, which predicates are made over; anything else has none. */
export function icebergFields(binding: TableBinding): readonly ReadField[] {
  if (binding.kind === 'policed') return seenFields(fieldsOf(binding.table), binding.policies);
  return binding.kind === 'iceberg' ? fieldsOf(binding) : [];
}

const fieldsOf = ({ metadata, schemaId, addresses }: ScanBinding): readonly Field[] => [
  ...schemaById(metadata, schemaId).fields,
  ...addresses,
];

/** The fields as a reader sees them below whose mask no condition of his may look. */
export function seenFields(fields: readonly Field[], { policies }: TablePolicies): readonly ReadField[] {
  const masked = new Set(policies.flatMap((policy) => (policy.kind === 'masking' ? [policy.fieldId] : [])));
  return masked.size === 0 ? fields : fields.map((field) => ({ ...field, isMasked: masked.has(field.id) }));
}

/** The columns as DuckDB sees them. */
export function sqlFields(binding: TableBinding): readonly SqlField[] {
  if (binding.kind === 'iceberg' || binding.kind === 'policed') return icebergFields(binding).map(fieldType);
  return binding.kind === 'rows' ? binding.rows.columns : binding.table.columns;
}
