import { PROTECTED_PROPERTY } from '#shared/iceberg/protected-property.ts';
import { parseJson } from '#shared/json.ts';
import { documentTask, METADATA_THREAD } from './document-task.ts';
import type { Properties, TableDocument } from './table-document.ts';

export const isProtected = (properties: Properties): boolean =>
  Object.hasOwn(properties, PROTECTED_PROPERTY) && properties[PROTECTED_PROPERTY]?.toLowerCase() === 'true';

/** Whether the table's metadata (JSON text) sets the property. */
const isProtectedTable = (metadata: string): boolean =>
  isProtected((parseJson(metadata) as unknown as TableDocument).properties);

export const IS_PROTECTED = documentTask(isProtectedTable, 'isProtectedTable', METADATA_THREAD);
