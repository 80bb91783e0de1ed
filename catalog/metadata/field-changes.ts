import { printJson, type Json } from '#shared/json.ts';
import type { TableDocument } from './table-document.ts';

/** Ids of top-level columns that a change of the current schema takes away or changes. */
export type FieldChanges = {
  /** They are gone, or have another type. */
  readonly lost: readonly number[];
  readonly renamed: readonly number[];
};

const NO_CHANGES: FieldChanges = { lost: [], renamed: [] };

export function fieldChanges(before: TableDocument, after: TableDocument): FieldChanges {
  const schemas = [before, after].map((document) =>
    document.schemas.find((schema) => schema['schema-id'] === document['current-schema-id']),
  );
  const [old, now] = schemas;
  if (old === undefined || now === undefined || old === now) return NO_CHANGES;
  const fields = new Map(now.fields.map((field) => [field.id, field]));
  const lost = old.fields.filter((field) => {
    const found = fields.get(field.id);
    return found === undefined || printed(found.type) !== printed(field.type);
  });
  const renamed = old.fields.filter((field) => {
    const found = fields.get(field.id);
    return found !== undefined && found.name !== field.name;
  });
  return { lost: lost.map(({ id }) => id), renamed: renamed.map(({ id }) => id) };
}

const printed = (type: Json): string => printJson(type);
