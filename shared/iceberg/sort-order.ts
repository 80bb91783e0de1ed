import type { Json, JsonObject } from '#shared/json.ts';
import { parseTransform, printTransform, type Transform } from './transform.ts';
import { invalid, isObject, smallInteger } from './type.ts';

/** A field of a sort order. */
export type SortField = {
  readonly sourceId: number;
  readonly transform: Transform;
  readonly direction: 'asc' | 'desc';
  readonly nullOrder: 'nulls-first' | 'nulls-last';
};

/** @throws INVALID_TABLE_DATA */
export function parseSortFields(json: Json | undefined): readonly SortField[] {
  if (!Array.isArray(json)) throw invalid('a sort order has no fields');
  return (json as readonly Json[]).map((one) => {
    if (!isObject(one) || typeof one['transform'] !== 'string') throw invalid('a sort field has no transform');
    const sources = Array.isArray(one['source-ids']) ? (one['source-ids'] as readonly Json[]) : [one['source-id']];
    return {
      sourceId: smallInteger(sources[0], 'source-id'),
      transform: sources.length === 1 ? parseTransform(one['transform']) : { kind: 'unknown', text: one['transform'] },
      direction: one['direction'] === 'desc' ? 'desc' : 'asc',
      nullOrder: one['null-order'] === 'nulls-last' ? 'nulls-last' : 'nulls-first',
    };
  });
}

export const printSortFields = (fields: readonly SortField[]): readonly JsonObject[] =>
  fields.map((field) => ({
    transform: printTransform(field.transform),
    'source-id': field.sourceId,
    direction: field.direction,
    'null-order': field.nullOrder,
  }));
