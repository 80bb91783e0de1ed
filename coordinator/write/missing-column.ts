import { SkeinError } from '#shared/error.ts';
import type { Field } from '#shared/iceberg/type.ts';
import { didYouMean, nearestName } from '#shared/nearest-name.ts';

/** The error for a column that a statement writes and the table does not have, with a similar name as a hint. */
export function missingColumn(fields: readonly Field[], name: string, position: number): SkeinError {
  const near = nearestName(
    name,
    fields.map((field) => field.name),
  );
  return new SkeinError('COLUMN_NOT_FOUND', `the table has no column ${name}${didYouMean(near)}`, { position });
}
