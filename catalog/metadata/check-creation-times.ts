import { isRfc3339 } from '#shared/rfc3339.ts';
import { refuse } from './json-reader.ts';
import type { Properties } from './table-document.ts';

/** The time of a table's creation, under both spellings (service specification, `tables` view). */
const CREATION_TIMES = ['created-at', 'created_at'] as const;

/**
 * Checks properties that a client sets: `information_schema` shows the time of creation. What a table has already may stay, whatever it is.
 * A time without an offset counts as UTC: Iceberg's compatibility kit sets such ones.
 * @throws INVALID_REQUEST
 */
export function checkCreationTimes(set: Properties, before: Properties = {}): void {
  for (const name of CREATION_TIMES) {
    const time = Object.hasOwn(set, name) ? set[name] : undefined;
    if (
      time === undefined ||
      isRfc3339(time) ||
      isRfc3339(`${time}Z`) ||
      (Object.hasOwn(before, name) && before[name] === time)
    )
      continue;
    refuse(`Invalid ${name}: ${JSON.stringify(time)} is no RFC 3339 time such as 2024-01-31T12:00:00Z`);
  }
}
