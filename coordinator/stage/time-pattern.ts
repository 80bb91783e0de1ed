import { foldKeyword } from '#shared/sql/fold-identifier.ts';

/** Elements of Snowflake's date and time formats, the longest first, and what DuckDB's `strptime` calls them. */
const ELEMENTS: readonly (readonly [element: string, directive: string])[] = [
  ['YYYY', '%Y'],
  ['MMMM', '%B'],
  ['HH24', '%H'],
  ['HH12', '%I'],
  ['MON', '%b'],
  ['FF9', '%n'],
  ['FF6', '%f'],
  ['FF3', '%g'],
  ['TZHTZM', '%z'],
  ['TZH:TZM', '%z'],
  ['YY', '%y'],
  ['MM', '%m'],
  ['DD', '%d'],
  ['DY', '%a'],
  ['MI', '%M'],
  ['SS', '%S'],
  ['FF', '%n'],
  ['AM', '%p'],
  ['PM', '%p'],
];

/**
 * The `strptime` pattern of a format: `DD.MM.YYYY HH24:MI` is `%d.%m.%Y %H:%M`. A text in double quotes stands for itself; a format with a
 * percent sign is a pattern already. Null for letters that mean nothing.
 */
export function timePattern(format: string): string | null {
  if (format.includes('%')) return format;
  let pattern = '';
  for (let at = 0; at < format.length;) {
    const quoted = format[at] === '"' ? format.indexOf('"', at + 1) : -1;
    if (quoted > 0) {
      pattern += format.slice(at + 1, quoted);
      at = quoted + 1;
      continue;
    }
    const rest = foldKeyword(format.slice(at, at + 7));
    const found = ELEMENTS.find(([element]) => rest.startsWith(element));
    if (found !== undefined) {
      pattern += found[1];
      at += found[0].length;
      continue;
    }
    const char = format.charAt(at);
    // ISO 8601 has a T between date and time.
    if (/[A-SU-Za-su-z"]/.test(char)) return null;
    pattern += char;
    at += 1;
  }
  return pattern;
}
