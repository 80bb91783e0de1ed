import { SkeinError } from '#shared/error.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { isObject } from '#shared/iceberg/type.ts';
import type { FileField } from './footer.ts';

/**
 * Assigns ids to the fields of a file without any, by the table's name mapping (Iceberg spec, Column Projection: `names` lists all names
 * that a field ever had). A file with ids is left unchanged. Fields that the mapping does not name get no id, and so are never found.
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

function mapFields(fields: readonly FileField[], mapping: readonly Json[]): readonly FileField[] {
  const byName = entriesByName(mapping);
  const indexes = new Map<JsonObject, EntriesByName>();
  return fields.map((field) => mapField(field, byName.get(field.name), indexes));
}

/** @param indexes of the entries met so far: a file may have any number of fields of one name */
function mapField(field: FileField, entry: JsonObject | undefined, indexes: Map<JsonObject, EntriesByName>): FileField {
  const inner = innerEntries(field, entry, indexes);
  // Every mapping uses these names for the parts of lists and maps, whatever the file calls them.
  const partNames = field.kind === 'list' ? ['element'] : field.kind === 'map' ? ['key', 'value'] : undefined;
  return {
    ...field,
    id: typeof entry?.['field-id'] === 'number' ? entry['field-id'] : null,
    children: field.children.map((child, i) => mapField(child, inner.get(partNames?.[i] ?? child.name), indexes)),
  };
}

function innerEntries(
  { children }: FileField,
  entry: JsonObject | undefined,
  indexes: Map<JsonObject, EntriesByName>,
): EntriesByName {
  if (entry === undefined || children.length === 0) return NONE;
  const known = indexes.get(entry);
  if (known !== undefined) return known;
  const index = entriesByName(entry['fields'] ?? []);
  indexes.set(entry, index);
  return index;
}

type EntriesByName = ReadonlyMap<Json, JsonObject>;
const NONE: EntriesByName = new Map();

/** Indexes a mapping's entries by name; the first entry of a name wins. */
function entriesByName(mapping: Json): EntriesByName {
  const byName = new Map<Json, JsonObject>();
  for (const entry of Array.isArray(mapping) ? (mapping as readonly Json[]) : []) {
    if (!isObject(entry)) continue;
    const names = Array.isArray(entry['names']) ? (entry['names'] as readonly Json[]) : [];
    for (const name of names) if (!byName.has(name)) byName.set(name, entry);
  }
  return byName;
}
