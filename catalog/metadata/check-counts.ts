import type { Json } from '#shared/json.ts';
import { refuse } from './json-reader.ts';
import { walkFields } from './document-schema.ts';
import type { DocumentSchema, TableDocument } from './table-document.ts';

/**
 * Maximum number of entries per list or map of a table's metadata. A reader holds them all as objects, which take many times the memory of
 * their text.
 */
const MEMBERS_MAX: Partial<Record<keyof TableDocument, number>> = {
  snapshots: 200_000,
  schemas: 10_000,
  'partition-specs': 10_000,
  'sort-orders': 10_000,
  'snapshot-log': 200_000,
  'metadata-log': 100_000,
  statistics: 200_000,
  'partition-statistics': 200_000,
  refs: 100_000,
  properties: 50_000,
};
/** Maximum number of fields in all schemas together, nested fields included. */
const FIELDS_MAX = 500_000;

/** @param metadata a document of table metadata, checked or not @throws INVALID_REQUEST when a list or map of it is too long */
export function checkMembers(metadata: { readonly [name: string]: Json | undefined }): void {
  for (const [name, max] of Object.entries(MEMBERS_MAX)) {
    const members = metadata[name];
    const count = typeof members === 'object' && members !== null ? Object.keys(members).length : 0;
    if (count > max) refuse(`the table's metadata has more than ${max} ${name}`);
  }
}

/** @throws INVALID_REQUEST when the schemas have too many fields */
export function checkFields(schemas: readonly DocumentSchema[]): void {
  let fields = 0;
  for (const schema of schemas) {
    for (const _field of walkFields(schema)) fields += 1;
    if (fields > FIELDS_MAX) refuse(`the table's schemas have more than ${FIELDS_MAX} fields`);
  }
}
