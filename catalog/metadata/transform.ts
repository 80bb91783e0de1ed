import { isTransformable, parseTransform as parse, printTransform } from '#shared/iceberg/transform.ts';
import { parseType } from '#shared/iceberg/type.ts';
import { refuse } from './json-reader.ts';

/** Partition and sort transforms of metadata, as text; `shared/iceberg/transform.ts` has the rules. */

/** Canonical spelling. @throws INVALID_REQUEST on one that the specification does not have */
export function parseTransform(text: string): string {
  const transform = parse(text.toLowerCase());
  return transform.kind === 'unknown' ? refuse(`Cannot parse transform: ${text}`) : printTransform(transform);
}

/** Whether a transform applies to a primitive type, both in canonical spelling. */
export const canTransform = (transform: string, type: string): boolean =>
  isTransformable(parse(transform), parseType(type));
