import type { Json } from '#shared/json.ts';
import {
  asObject,
  get,
  int,
  optionalArray,
  optionalInt,
  refuse,
  requiredArray,
  requiredInt,
  requiredString,
} from './json-reader.ts';
import { fieldsById, type FieldPath } from './document-schema.ts';
import { PARTITION_ID_START, type PartitionField, type PartitionSpec, type DocumentSchema } from './table-document.ts';
import { canTransform, parseTransform } from './transform.ts';

/** Partition specs: reading, binding to a schema, ids, equality. Pure; errors are INVALID_REQUEST. */

/** A spec as a client sends it: field ids may be missing. */
export type UnboundSpec = { readonly fields: readonly UnboundPartitionField[] };
type UnboundPartitionField = Omit<PartitionField, 'field-id'> & { readonly 'field-id': number | undefined };

export const UNPARTITIONED: UnboundSpec = { fields: [] };

export function parsePartitionSpec(json: Json): UnboundSpec {
  return { fields: parsePartitionFields(requiredArray(asObject(json, 'partition spec'), 'fields')) };
}

/** Parses the fields of a spec; format version 1 stores the list alone. */
export const parsePartitionFields = (fields: readonly Json[]): readonly UnboundPartitionField[] =>
  fields.map(parseField);

function parseField(json: Json): UnboundPartitionField {
  const object = asObject(json, 'partition field');
  const name = requiredString(object, 'name');
  if (name === '') refuse('Cannot use empty partition name');
  const transform = parseTransform(requiredString(object, 'transform'));
  const sources = optionalArray(object, 'source-ids');
  if (sources !== undefined && sources.length > 1) refuse('Transforms of several columns are not supported');
  const source = get(object, 'source-id') === undefined && sources !== undefined ? sources[0] : undefined;
  return {
    name,
    transform,
    'source-id': source === undefined ? requiredInt(object, 'source-id') : int(source, 'source-ids'),
    'field-id': optionalInt(object, 'field-id'),
  };
}

/**
 * Gives every field an id: the client's if it sent one; else, from format version 2 on, the id that the same transform of the same column
 * has in an older spec; else the next free one.
 */
export function bindPartitionSpec(
  spec: UnboundSpec,
  specId: number,
  known: { readonly specs: readonly PartitionSpec[]; readonly lastPartitionId: number; readonly formatVersion: number },
): PartitionSpec {
  const older = known.formatVersion === 1 ? [] : known.specs.flatMap(({ fields }) => fields);
  let last = Math.max(known.lastPartitionId, PARTITION_ID_START);
  const fields = spec.fields.map(({ name, transform, 'source-id': sourceId, 'field-id': given }): PartitionField => {
    const same = older.find((field) => field['source-id'] === sourceId && field.transform === transform);
    const id = given ?? same?.['field-id'] ?? last + 1;
    last = Math.max(last, id);
    return { name, transform, 'source-id': sourceId, 'field-id': id };
  });
  return { 'spec-id': specId, fields };
}

export const lastFieldId = (spec: PartitionSpec): number =>
  spec.fields.reduce((last, field) => Math.max(last, field['field-id']), PARTITION_ID_START);

/** Iceberg's `compatibleWith`: the same columns, transforms and names in the same order; ids do not count. */
export const sameSpec = (a: UnboundSpec, b: UnboundSpec): boolean =>
  a.fields.length === b.fields.length &&
  a.fields.every((field, i) => {
    const other = b.fields[i];
    return (
      field.name === other?.name && field.transform === other.transform && field['source-id'] === other['source-id']
    );
  });

export const hasSequentialIds = (spec: PartitionSpec): boolean =>
  spec.fields.every((field, i) => field['field-id'] === PARTITION_ID_START + 1 + i);

/** Checks that a new spec fits the current schema, names included. */
export function checkNewSpec(spec: PartitionSpec, schema: DocumentSchema): void {
  const byId = fieldsById(schema);
  const names = new Set<string>();
  const ids = new Set<number>();
  for (const field of spec.fields) {
    if (names.has(field.name)) refuse(`Cannot use partition name more than once: ${field.name}`);
    if (ids.has(field['field-id'])) refuse(`Cannot use partition field id more than once: ${field['field-id']}`);
    names.add(field.name);
    ids.add(field['field-id']);
    const column = schema.fields.find(({ name }) => name === field.name);
    if (column === undefined || field.transform === 'void') continue;
    if (field.transform !== 'identity') {
      refuse(`Cannot create partition from name that exists in schema: ${field.name}`);
    }
    if (column.id !== field['source-id']) {
      refuse(`Cannot create identity partition sourced from different field in schema: ${field.name}`);
    }
  }
  checkSpecCompatibility(spec, byId);
}

/**
 * Iceberg's `PartitionSpec.checkCompatibility`: each source is a primitive column, nested in structs only, whose type the transform takes.
 */
export function checkSpecCompatibility(spec: PartitionSpec, byId: ReadonlyMap<number, FieldPath>): void {
  for (const field of spec.fields) {
    if (field.transform === 'void') continue;
    const source = byId.get(field['source-id']);
    if (source === undefined) {
      return refuse(
        `Cannot find source column for partition field: ${field['field-id']}: ${field.name}: ${field.transform}(${field['source-id']})`,
      );
    }
    if (typeof source.type !== 'string')
      return refuse(`Cannot partition by non-primitive source field: ${source.path}`);
    if (!canTransform(field.transform, source.type)) {
      return refuse(`Invalid source type ${source.type} for transform: ${field.transform}`);
    }
    if (source.inCollection) return refuse(`Invalid partition field parent: ${source.path} is in a list or map`);
  }
}
