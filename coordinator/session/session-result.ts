import type { Json } from '#shared/json.ts';
import type { OutputColumn } from '../query/result-sink.ts';

/** The result of a statement that the coordinator answers by itself: a few rows, in memory. */
export type SessionResult = { readonly columns: readonly OutputColumn[]; readonly rows: readonly (readonly Json[])[] };

/** A result whose columns are all VARCHAR. */
export const textResult = (columns: readonly string[], rows: readonly (readonly Json[])[]): SessionResult => ({
  columns: columns.map((name) => ({ name, typeName: 'VARCHAR' })),
  rows,
});

/** What statements without rows answer. */
export const statusResult = (status: string): SessionResult => textResult(['status'], [[status]]);

/** Whether `text` matches an SQL LIKE pattern (`%`, `_`, backslash escapes); null matches everything. */
export function matchesLike(text: string, pattern: string | null): boolean {
  if (pattern === null) return true;
  return likeFrom(Array.from(text), Array.from(pattern));
}

/** Two positions and one point to come back to: linear in the text for each `%`, whatever the pattern. */
function likeFrom(text: readonly string[], pattern: readonly string[]): boolean {
  let at = 0;
  let p = 0;
  let star = -1;
  let starAt = 0;
  while (at < text.length) {
    const escaped = pattern[p] === '\\' && p + 1 < pattern.length;
    const wanted = escaped ? pattern[p + 1] : pattern[p];
    if (!escaped && wanted === '%') {
      star = p;
      starAt = at;
      p += 1;
    } else if (wanted !== undefined && (wanted === text[at] || (!escaped && wanted === '_'))) {
      at += 1;
      p += escaped ? 2 : 1;
    } else if (star >= 0) {
      starAt += 1;
      at = starAt;
      p = star + 1;
    } else {
      return false;
    }
  }
  while (pattern[p] === '%') p += 1;
  return p === pattern.length;
}
