import type { SqlText } from '#shared/task/sql-text.ts';
import { NotPrintable } from './not-printable.ts';

/**
 * Limit on the nesting of a text, below the 1,000 levels that DuckDB's parser takes (`max_expression_depth`). A parenthesis counts as one
 * level, a subquery in FROM as two, a subquery in an expression or a join in parentheses as six (measured).
 */
const LEVELS_MAX = 800;
const IN_FROM = 2;
const IN_EXPRESSION = 6;

/** @throws NotPrintable when the worker's parser would refuse the text for its depth */
export function checkNesting(text: SqlText): void {
  const open: number[] = [];
  let levels = 0;
  for (const part of text) {
    if (typeof part !== 'string') continue;
    for (const { 0: token, index } of part.matchAll(TOKENS)) {
      if (token === ')' || token === 'END') levels -= open.pop() ?? 0;
      if (token !== '(' && token !== 'CASE') continue;
      const cost = token === 'CASE' ? 1 : weight(part, index);
      open.push(cost);
      levels += cost;
      if (levels > LEVELS_MAX) throw new NotPrintable('it is nested too deeply for a worker to parse');
    }
  }
}

/**
 * String literals and quoted names are skipped; a doubled quote ends one token and begins the next. A pattern that takes the quote into the
 * token overflows the pattern engine's stack for a literal of some megabytes.
 */
const TOKENS = /'[^']*'|"[^"]*"|[()]|\bCASE\b|\bEND\b/g;

function weight(text: string, at: number): number {
  const before = text.slice(Math.max(0, at - 6), at);
  if (text.startsWith('SELECT ', at + 1) || text.startsWith('(SELECT ', at + 1)) {
    return /(?:FROM|JOIN|ALL|UNION|EXCEPT|INTERSECT| AS|\() ?$/.test(before) ? IN_FROM : IN_EXPRESSION;
  }
  return before.endsWith('JOIN ') ? IN_EXPRESSION : 1;
}
