import type { ScanColumn } from './scan-file.ts';
import { printType, type Field } from './type.ts';

/** Returns a field of a table's schema in the form that tasks carry, for the columns of a scan and of an equality delete. */
export const scanColumn = (field: Field): ScanColumn => ({
  fieldId: field.id,
  name: field.name,
  type: printType(field.type),
  required: field.required,
  initialDefault: field.initialDefault ?? null,
});
