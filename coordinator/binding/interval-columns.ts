import { parseJson, printJson, type Json } from '#shared/json.ts';
import { isObject } from '#shared/iceberg/type.ts';

/**
 * The columns of a view that are INTERVAL. Iceberg has no such type, so the schema of the view's version calls them texts, and its summary
 * names them here.
 */
const INTERVALS = 'skein.interval-columns';

/** The member of a version's summary that names them; none when there are none. */
export const printIntervals = (names: readonly string[]): Readonly<Record<string, string>> =>
  names.length === 0 ? {} : { [INTERVALS]: printJson(names) };

/** Anybody may write a summary: what is no list of names means none. */
export function readIntervals(summary: Json | undefined): readonly string[] {
  const text = summary !== undefined && isObject(summary) ? summary[INTERVALS] : undefined;
  if (typeof text !== 'string') return [];
  try {
    const names = parseJson(text);
    return Array.isArray(names) ? (names as readonly Json[]).filter((name) => typeof name === 'string') : [];
  } catch {
    return [];
  }
}
