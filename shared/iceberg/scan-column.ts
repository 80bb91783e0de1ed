import type { ScanColumn } from '#proto/task.ts';
import { printType, type Field } from './type.ts';

/** A field of a table's schema as a task carries it, for the columns of a scan and for those of an equality delete. */
export const scanColumn = (field: Field): ScanColumn => ({
  fieldId: field.id,
  name: field.name,
  type: printType(field.type),
  required: field.required,
  initialDefault: field.initialDefault ?? null,
});
