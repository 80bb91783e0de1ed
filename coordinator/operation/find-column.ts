import { SkeinError } from '#shared/error.ts';
import { isAddressName } from '#shared/iceberg/address-columns.ts';
import type { Field } from '#shared/iceberg/type.ts';
import { didYouMean, nearestName } from '#shared/nearest-name.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import type { ObjectName } from '../statement/statement.ts';

/** A column that a statement names, as it is stored. */
export type FoundColumn = {
  readonly field: Field;
  /** The full name: `address.zip`, `phones.element`. */
  readonly path: string;
  /** Whether it stands in a list or map, at any depth. */
  readonly inCollection: boolean;
};

/** The fields that names within a type stand for: those of a struct, `element` of a list, `key` and `value` of a map. */
export function innerFields({ type }: Field): readonly Field[] {
  if (type.kind === 'struct') return type.fields;
  if (type.kind === 'list') return [type.element];
  return type.kind === 'map' ? [type.key, type.value] : [];
}

/** The field of a name, exactly first, then without case. */
export const fieldNamed = (fields: readonly Field[], name: string): Field | undefined =>
  fields.find((field) => field.name === name) ??
  fields.find((field) => foldIdentifier(field.name) === foldIdentifier(name));

/** Finds a column, which may stand in others. @throws COLUMN_NOT_FOUND with the name's position */
export function findColumn(fields: readonly Field[], { parts, position }: ObjectName): FoundColumn {
  let level = fields;
  let found: Field | undefined;
  let inCollection = false;
  const path: string[] = [];
  for (const part of parts) {
    if (found !== undefined && found.type.kind !== 'struct') inCollection = true;
    found = fieldNamed(level, part);
    if (found === undefined) throw noColumn(level, [...path, part], position);
    path.push(found.name);
    level = innerFields(found);
  }
  if (found === undefined) throw new Error('invariant: a name has parts');
  return { field: found, path: path.join('.'), inCollection };
}

function noColumn(fields: readonly Field[], path: readonly string[], position: number): SkeinError {
  const near = nearestName(
    path.at(-1) ?? '',
    fields.map(({ name }) => name),
  );
  return new SkeinError('COLUMN_NOT_FOUND', `column ${path.join('.')} does not exist${didYouMean(near)}`, { position });
}

/** Refuses a second field of one name, which no statement could name. @throws COLUMN_EXISTS */
export function requireFreeName(fields: readonly Field[], name: string, position: number): void {
  const folded = foldIdentifier(name);
  if (fields.some((field) => foldIdentifier(field.name) === folded)) throw columnExists(name, position);
}

export const columnExists = (name: string, position: number): SkeinError =>
  new SkeinError('COLUMN_EXISTS', `column ${name} exists already`, { position });

/** Refuses a column of the table that would hide one which every table has. @throws COLUMN_EXISTS */
export function requireOwnName(name: string, position: number): void {
  if (!isAddressName(foldIdentifier(name))) return;
  throw new SkeinError('COLUMN_EXISTS', `every table has a column ${name}, which says where a row is`, { position });
}
