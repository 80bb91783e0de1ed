import { SkeinError } from '#shared/error.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { invalid, isObject, parseFields, printField, smallInteger, walkFields, type Field } from './type.ts';

export type Schema = {
  readonly schemaId: number;
  readonly fields: readonly Field[];
  readonly identifierFieldIds: readonly number[];
};

/** Maximum number of fields of a schema, nested ones included. */
const FIELDS_MAX = 50_000;

/** @throws INVALID_TABLE_DATA */
export function parseSchema(json: Json | undefined): Schema {
  if (!isObject(json)) throw invalid('a schema is not an object');
  const fields = parseFields(json['fields']);
  let count = 0;
  for (const _field of walkFields(fields)) {
    if (++count > FIELDS_MAX) throw new SkeinError('NOT_SUPPORTED', `a schema has more than ${FIELDS_MAX} fields`);
  }
  const identifiers = json['identifier-field-ids'];
  return {
    schemaId: json['schema-id'] === undefined ? 0 : smallInteger(json['schema-id'], 'schema-id'),
    fields,
    identifierFieldIds: Array.isArray(identifiers)
      ? (identifiers as readonly Json[]).map((id) => smallInteger(id, 'identifier-field-ids'))
      : [],
  };
}

export const printSchema = (schema: Schema): JsonObject => ({
  type: 'struct',
  'schema-id': schema.schemaId,
  ...(schema.identifierFieldIds.length === 0 ? {} : { 'identifier-field-ids': schema.identifierFieldIds }),
  fields: schema.fields.map(printField),
});
