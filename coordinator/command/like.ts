import type { StatementReader } from '../statement/statement-reader.ts';

/** Longest text after LIKE: a name is compared with it in time that is their product. */
const PATTERN_LENGTH_MAX = 4_096;

/** `LIKE '<pattern>'`; null without it. @throws SYNTAX_ERROR, INVALID_REQUEST for a pattern that is too long */
export function takeLike(reader: StatementReader): string | null {
  if (!reader.takeWord('LIKE')) return null;
  const { length } = reader.rest().text;
  if (length > PATTERN_LENGTH_MAX) {
    throw reader.error('INVALID_REQUEST', `a pattern after LIKE has at most ${PATTERN_LENGTH_MAX} characters`);
  }
  const pattern = reader.takeString();
  if (pattern === null) throw reader.expected('a pattern in quotes');
  return pattern;
}

/** Whether `text` matches an SQL LIKE pattern (`%`, `_`, backslash escapes); null matches everything. */
export function matchesLike(text: string, pattern: string | null): boolean {
  if (pattern === null) return true;
  return likeFrom(Array.from(text), Array.from(pattern));
}

/** Matches greedily and backtracks to the last `%` only, so the time is at most the product of the two lengths. */
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
