import { SkeinError } from '#shared/error.ts';

/** Maximum bytes of an identifier in UTF-8. DuckDB has no limit, and compares an unknown function's name with all known ones. */
const IDENTIFIER_BYTES_MAX = 1_024;

/** Maximum bytes of a UTF-16 unit: a shorter text need not be measured. */
const UNIT_BYTES_MAX = 3;

/** @throws NAME_TOO_LONG with `position` */
export function checkIdentifier(name: string, position: number | undefined): void {
  if (name.length * UNIT_BYTES_MAX <= IDENTIFIER_BYTES_MAX) return;
  if (Buffer.byteLength(name) <= IDENTIFIER_BYTES_MAX) return;
  const head = `${name.slice(0, 40)}...`;
  throw new SkeinError('NAME_TOO_LONG', `the name "${head}" is longer than ${IDENTIFIER_BYTES_MAX} bytes`, {
    position,
  });
}
