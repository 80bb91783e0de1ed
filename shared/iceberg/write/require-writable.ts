import { SkeinError } from '#shared/error.ts';
import { UNWRITABLE } from '../type-names.ts';
import { walkFields, type Field } from '../type.ts';

/** @throws NOT_SUPPORTED naming the first column that cannot be written */
export function requireWritable(fields: readonly Field[]): void {
  for (const field of fields) {
    for (const { type } of walkFields([field])) {
      if (!UNWRITABLE.has(type.kind)) continue;
      throw new SkeinError('NOT_SUPPORTED', `column ${field.name} has the type ${type.kind}, which cannot be written`);
    }
  }
}
