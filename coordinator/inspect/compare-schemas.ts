import type { Schema } from '#shared/iceberg/schema.ts';
import { walkFields, type Field } from '#shared/iceberg/type.ts';
import { sqlTypeName } from '../session/sql-type-name.ts';

export type SchemaChange = {
  readonly change: 'added' | 'dropped' | 'renamed' | 'retyped' | 'made nullable' | 'made required' | 'comment';
  readonly column: string;
  readonly before: string | null;
  readonly after: string | null;
};

/** Changes that are listed. */
const CHANGES_MAX = 1_000;

/** The columns that differ between two schemas of a table, whose fields are the same by their ids. */
export function compareSchemas(before: Schema, after: Schema): readonly SchemaChange[] {
  const [old, now] = [fieldsById(before), fieldsById(after)];
  const changes: SchemaChange[] = [];
  for (const [id, field] of now) {
    const earlier = old.get(id);
    if (earlier === undefined)
      changes.push({ change: 'added', column: field.name, before: null, after: sqlTypeName(field.type) });
    else changes.push(...changesOf(earlier, field));
  }
  for (const [id, field] of old) {
    if (!now.has(id))
      changes.push({ change: 'dropped', column: field.name, before: sqlTypeName(field.type), after: null });
  }
  return changes.slice(0, CHANGES_MAX);
}

const fieldsById = ({ fields }: Schema): ReadonlyMap<number, Field> =>
  new Map([...walkFields(fields)].map((field) => [field.id, field]));

function* changesOf(before: Field, after: Field): Generator<SchemaChange> {
  const column = after.name;
  if (before.name !== after.name) yield { change: 'renamed', column, before: before.name, after: after.name };
  const types = { before: sqlTypeName(before.type), after: sqlTypeName(after.type) };
  // The parts of a nested type are fields of their own.
  if (types.before !== types.after && !('fields' in after.type)) yield { change: 'retyped', column, ...types };
  if (before.required !== after.required) {
    yield { change: after.required ? 'made required' : 'made nullable', column, before: null, after: null };
  }
  if (before.doc !== after.doc)
    yield { change: 'comment', column, before: before.doc ?? null, after: after.doc ?? null };
}
