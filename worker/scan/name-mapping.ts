import { SkeinError } from '#shared/error.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import type { FileField } from './footer.ts';

/**
 * Gives ids to the fields of a file that has none, by the table's name mapping (Iceberg spec, Column Projection: `names` are all that a
 * field was ever called). A file with ids stays as it is. Fields that the mapping does not name have no id, and so are never found.
 * @throws INVALID_TABLE_DATA when the file has no ids and the table no mapping.
 */
export function withFieldIds(fields: readonly FileField[], nameMapping: Json, fileName: string): readonly FileField[] {
  if (fields.some(hasId) || fields.length === 0) return fields;
  if (!Array.isArray(nameMapping)) {
    throw new SkeinError('INVALID_TABLE_DATA', `${fileName} has no field ids, and the table has no name mapping`);
  }
  return mapFields(fields, nameMapping as readonly Json[]);
}

const hasId = (field: FileField): boolean => field.id !== null || field.children.some(hasId);

const mapFields = (fields: readonly FileField[], mapping: readonly Json[]): readonly FileField[] =>
  fields.map((field) => mapField(field, mapping, field.name));

function mapField(field: FileField, mapping: readonly Json[], name: string): FileField {
  const entry = mapping.find((candidate) => namesOf(candidate).includes(name)) as JsonObject | undefined;
  const inner = (entry?.['fields'] ?? []) as readonly Json[];
  // The parts of lists and maps are called so in every mapping, whatever the file calls them.
  const partNames = field.kind === 'list' ? ['element'] : field.kind === 'map' ? ['key', 'value'] : undefined;
  return {
    ...field,
    id: typeof entry?.['field-id'] === 'number' ? entry['field-id'] : null,
    children: field.children.map((child, i) => mapField(child, inner, partNames?.[i] ?? child.name)),
  };
}

function namesOf(entry: Json): readonly Json[] {
  const names = (entry as JsonObject | null)?.['names'];
  return Array.isArray(names) ? (names as readonly Json[]) : [];
}
