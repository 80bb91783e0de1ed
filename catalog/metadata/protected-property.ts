import { parseJson } from '#shared/json.ts';
import { documentTask, METADATA_THREAD } from './document-task.ts';
import type { Properties, TableDocument } from './table-document.ts';

/** A table or namespace with this property set to `true` cannot be dropped, unregistered or overwritten until the property goes. */
export const PROTECTED_PROPERTY = 'skein.protected';

export const isProtected = (properties: Properties): boolean =>
  Object.hasOwn(properties, PROTECTED_PROPERTY) && properties[PROTECTED_PROPERTY]?.toLowerCase() === 'true';

/** Whether the table's metadata (JSON text) sets the property. */
const isProtectedTable = (metadata: string): boolean =>
  isProtected((parseJson(metadata) as unknown as TableDocument).properties);

export const IS_PROTECTED = documentTask(isProtectedTable, 'isProtectedTable', METADATA_THREAD);
