import type { Json } from '#shared/json.ts';
import { asObject, optionalInt, refuse, requiredArray, requiredInt, requiredString } from './json-reader.ts';
import type { FieldPath } from './document-schema.ts';
import type { SortField, SortOrder } from './table-document.ts';
import { canTransform, parseTransform } from './transform.ts';

/** Sort orders. Pure; errors are INVALID_REQUEST. */

export const UNSORTED: SortOrder = { 'order-id': 0, fields: [] };

export function parseSortOrder(json: Json): SortOrder {
  const object = asObject(json, 'sort order');
  const fields = requiredArray(object, 'fields').map(parseSortField);
  const id = optionalInt(object, 'order-id') ?? 1;
  if (fields.length > 0 && id === 0) refuse('Sort order ID 0 is reserved for unsorted order');
  return fields.length === 0 ? UNSORTED : { 'order-id': id, fields };
}

function parseSortField(json: Json): SortField {
  const object = asObject(json, 'sort field');
  const direction = requiredString(object, 'direction').toLowerCase();
  const nullOrder = requiredString(object, 'null-order').toLowerCase().replace('_', '-');
  if (direction !== 'asc' && direction !== 'desc') return refuse(`Invalid sort direction: ${direction}`);
  if (nullOrder !== 'nulls-first' && nullOrder !== 'nulls-last') return refuse(`Invalid null order: ${nullOrder}`);
  return {
    transform: parseTransform(requiredString(object, 'transform')),
    'source-id': requiredInt(object, 'source-id'),
    direction,
    'null-order': nullOrder,
  };
}

export const sameOrder = (a: SortOrder, b: SortOrder): boolean =>
  a.fields.length === b.fields.length &&
  a.fields.every((field, i) => {
    const other = b.fields[i];
    return (
      field.transform === other?.transform &&
      field['source-id'] === other['source-id'] &&
      field.direction === other.direction &&
      field['null-order'] === other['null-order']
    );
  });

export function checkOrderCompatibility(order: SortOrder, byId: ReadonlyMap<number, FieldPath>): void {
  for (const field of order.fields) {
    const source = byId.get(field['source-id']);
    if (source === undefined) {
      return refuse(`Cannot find source column for sort field: ${field.transform}(${field['source-id']})`);
    }
    if (typeof source.type !== 'string') return refuse(`Cannot sort by non-primitive source field: ${source.path}`);
    if (!canTransform(field.transform, source.type)) {
      return refuse(`Invalid source type ${source.type} for transform: ${field.transform}`);
    }
  }
}
