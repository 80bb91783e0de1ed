import { SkeinError } from '#shared/error.ts';
import type { Field } from '#shared/iceberg/type.ts';
import type { ObjectName } from '../../statement/statement.ts';
import type { StatementReader } from '../../statement/statement-reader.ts';
import { COLUMN_PARTS_MAX } from '../clause/transform.ts';
import { fieldNamed } from '../../operation/find-column.ts';

/** A place among the fields of one struct or table. */
export type ColumnPlace = { readonly after: ObjectName | null };

/** `FIRST` or `AFTER column`; null when none stands there. @throws SYNTAX_ERROR */
export function takePlace(reader: StatementReader): ColumnPlace | null {
  if (reader.takeWord('FIRST')) return { after: null };
  return reader.takeWord('AFTER') ? { after: reader.name('a column', COLUMN_PARTS_MAX) } : null;
}

/** Moves the field of an id among its siblings. @throws COLUMN_NOT_FOUND */
export function moved(siblings: readonly Field[], id: number, place: ColumnPlace | null): readonly Field[] {
  if (place === null) return siblings;
  const field = siblings.find((one) => one.id === id);
  if (field === undefined) return siblings;
  const others = siblings.filter((one) => one.id !== id);
  if (place.after === null) return [field, ...others];
  const { parts, position } = place.after;
  const name = parts.at(-1) ?? '';
  const before = fieldNamed(others, name);
  if (before === undefined) {
    throw new SkeinError('COLUMN_NOT_FOUND', `there is no other column ${name} to stand after`, { position });
  }
  const at = others.indexOf(before) + 1;
  return [...others.slice(0, at), field, ...others.slice(at)];
}
