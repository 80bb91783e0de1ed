import type { Field, IcebergType } from './type.ts';

/** Assigns field ids in the order of Iceberg's own libraries: the fields of a level first, then their children. */
export class FieldIds {
  #last: number;
  constructor(last = 0) {
    this.#last = last;
  }
  next(): number {
    return ++this.#last;
  }
  get last(): number {
    return this.#last;
  }
}

/** Returns the fields, and all below them, with ids that were not used before. */
export const withFreshIds = (fields: readonly Field[], ids: FieldIds): readonly Field[] =>
  withIds(fields, () => ids.next());

/** Returns the fields, and all below them, with the ids that `idOf` gives; it is asked in the order of `FieldIds`. */
export function withIds(fields: readonly Field[], idOf: (field: Field) => number): readonly Field[] {
  const numbered = fields.map((field) => ({ ...field, id: idOf(field) }));
  return numbered.map((field) => ({ ...field, type: typeWithIds(field.type, idOf) }));
}

function typeWithIds(type: IcebergType, idOf: (field: Field) => number): IcebergType {
  if (type.kind === 'struct') return { ...type, fields: withIds(type.fields, idOf) };
  if (type.kind === 'list') {
    const [element = type.element] = withIds([type.element], idOf);
    return { ...type, element };
  }
  if (type.kind !== 'map') return type;
  const [key = type.key, value = type.value] = withIds([type.key, type.value], idOf);
  return { ...type, key, value };
}
