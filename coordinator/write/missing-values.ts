import type { Field, IcebergType } from '#shared/iceberg/type.ts';
import { quoteLiteral } from '#shared/sql/quote.ts';

/** A place where a row must have a value, by the names on the way to it, and the SQL condition on the row that it has none. */
export type MissingValue = { readonly path: string; readonly sql: string };

/**
 * Returns the places of a column that must have a value: the column itself, and fields, elements and values of maps within it that are
 * required. A part of what is NULL as a whole is not missing.
 * @param value SQL of the column's value, of the column's type
 */
export function missingValues(field: Field, value: string): readonly MissingValue[] {
  const own = field.required ? [{ path: field.name, sql: `${value} IS NULL` }] : [];
  return [...own, ...within(field.type, { value, path: field.name, depth: 0 })];
}

type Place = { readonly value: string; readonly path: string; readonly depth: number };

function within(type: IcebergType, { value, path, depth }: Place): readonly MissingValue[] {
  if (type.kind === 'struct') {
    return type.fields.flatMap((part) => {
      const inside = { value: `struct_extract(${value}, ${quoteLiteral(part.name)})`, path: `${path}.${part.name}` };
      const isMissing = `(${value} IS NOT NULL AND ${inside.value} IS NULL)`;
      const own = part.required ? [{ path: inside.path, sql: isMissing }] : [];
      return [...own, ...within(part.type, { ...inside, depth })];
    });
  }
  if (type.kind === 'list') return inAny(type.element, { value, path, depth });
  if (type.kind !== 'map') return [];
  return [
    // DuckDB has no map with a NULL key.
    ...inAny({ ...type.key, required: false }, { value: `map_keys(${value})`, path, depth }),
    ...inAny(type.value, { value: `map_values(${value})`, path, depth }),
  ];
}

/** The places in an element of a list: one of its elements has no value there. */
function inAny(element: Field, { value, path, depth }: Place): readonly MissingValue[] {
  const one = `e${depth}`;
  const inside = { value: one, path: `${path}.${element.name}`, depth: depth + 1 };
  const own = element.required ? [{ path: inside.path, sql: `${one} IS NULL` }] : [];
  return [...own, ...within(element.type, inside)].map((missing) => ({
    path: missing.path,
    sql: `coalesce(list_bool_or(list_transform(${value}, lambda ${one}: ${missing.sql})), false)`,
  }));
}
