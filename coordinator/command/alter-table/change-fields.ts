import type { Field } from '#shared/iceberg/type.ts';

/** Returns the fields with the one of an id changed, at any depth. */
export const changeField = (fields: readonly Field[], id: number, change: (field: Field) => Field): readonly Field[] =>
  fields.map((field) => (field.id === id ? change(field) : within(field, (inner) => changeField(inner, id, change))));

/**
 * Returns the fields with the list of fields changed in which the one of an id stands, at any depth. It does nothing for the parts of a list
 * or map.
 */
export function changeSiblings(
  fields: readonly Field[],
  id: number,
  change: (siblings: readonly Field[]) => readonly Field[],
): readonly Field[] {
  if (fields.some((field) => field.id === id)) return change(fields);
  return fields.map((field) =>
    within(field, (inner) => {
      const isPart = field.type.kind !== 'struct' && inner.some((one) => one.id === id);
      return isPart ? inner : changeSiblings(inner, id, change);
    }),
  );
}

function within(field: Field, change: (fields: readonly Field[]) => readonly Field[]): Field {
  const { type } = field;
  if (type.kind === 'struct') return { ...field, type: { ...type, fields: change(type.fields) } };
  if (type.kind === 'list') {
    const [element = type.element] = change([type.element]);
    return { ...field, type: { ...type, element } };
  }
  if (type.kind !== 'map') return field;
  const [key = type.key, value = type.value] = change([type.key, type.value]);
  return { ...field, type: { ...type, key, value } };
}
