import type { Json, JsonObject } from '#shared/json.ts';
import { parseTransform, printTransform, type Transform } from './transform.ts';
import { invalid, isObject, smallInteger } from './type.ts';

export type PartitionSpec = { readonly specId: number; readonly fields: readonly PartitionField[] };

export type PartitionField = {
  /** Id of the partition value in manifests, from 1000 on. */
  readonly fieldId: number;
  readonly name: string;
  /** Id of the source column; with several (format 3) the transform counts as unknown. */
  readonly sourceId: number;
  readonly transform: Transform;
};

/** First id of partition fields; format version 1 numbers them from it where the document has no ids. */
const FIRST_FIELD_ID = 1000;

export function parsePartitionSpec(json: Json | undefined): PartitionSpec {
  if (!isObject(json)) throw invalid('a partition spec is not an object');
  return { specId: smallInteger(json['spec-id'], 'spec-id'), fields: parsePartitionFields(json['fields']) };
}

/** Parses partition fields, also the whole `partition-spec` of format version 1. */
export function parsePartitionFields(json: Json | undefined): readonly PartitionField[] {
  if (!Array.isArray(json)) throw invalid('a partition spec has no fields');
  return (json as readonly Json[]).map((one, index) => {
    if (!isObject(one) || typeof one['name'] !== 'string' || typeof one['transform'] !== 'string') {
      throw invalid('a partition field has no name or transform');
    }
    const sources = Array.isArray(one['source-ids']) ? (one['source-ids'] as readonly Json[]) : [one['source-id']];
    const several = sources.length !== 1;
    return {
      fieldId: one['field-id'] === undefined ? FIRST_FIELD_ID + index : smallInteger(one['field-id'], 'field-id'),
      name: one['name'],
      sourceId: smallInteger(sources[0], 'source-id'),
      transform: several ? { kind: 'unknown', text: one['transform'] } : parseTransform(one['transform']),
    };
  });
}

export const printPartitionFields = (fields: readonly PartitionField[]): readonly JsonObject[] =>
  fields.map((field) => ({
    name: field.name,
    transform: printTransform(field.transform),
    'source-id': field.sourceId,
    'field-id': field.fieldId,
  }));
