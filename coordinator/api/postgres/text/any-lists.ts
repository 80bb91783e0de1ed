import type { Token } from '#shared/sql/tokenizer.ts';
import { CallText, tokensOf } from './call-text.ts';

/** A short look at a long text. */
const LIST_OF_ANY = /\b(?:any|some|all)\s*\(\s*\$\d/i;

/** Whether a statement may have such a list. */
export const mayHaveLists = (sql: string): boolean => LIST_OF_ANY.test(sql);

const QUANTIFIERS: ReadonlySet<string> = new Set(['ANY', 'SOME', 'ALL']);
const COMPARISONS: ReadonlySet<string> = new Set(['=', '<', '>', '<>', '!=', '<=', '>=']);

/** A statement that is never run: it has the parameters of another one, which are lists where that compares something with them. */
export type Lists = {
  readonly sql: string;
  /** The lists, by their numbers from 0. */
  readonly numbers: readonly number[];
};

/**
 * Another statement by which the engine finds the types of lists: to `x = ANY($1)`, with which drivers send a list, it says nothing of `$1`, to
 * `list_contains($1, x)` that it is a list of the type of `x`.
 * ```
 * DELETE FROM t WHERE t.a = ANY($1)  ->  DELETE FROM t WHERE list_contains($1, t.a)
 * ```
 * @returns undefined where no parameter is such a list, or what it is compared with is more than a value
 */
export function anyLists(sql: string): Lists | undefined {
  const tokens = tokensOf(sql);
  if (tokens === undefined) return undefined;
  const text = new CallText(sql, tokens);
  const numbers: number[] = [];
  for (let at = 2; at < tokens.length; at += 1) {
    const isList = QUANTIFIERS.has(text.word(at)) && text.symbol(at + 1) === '(' && text.symbol(at + 3) === ')';
    const parameter =
      isList && text.isParameter(at + 2) ? /^\$\d+$/.exec(sliceOf(sql, tokens[at + 2]))?.[0] : undefined;
    const operator = parameter === undefined ? 0 : comparisonBefore(text, tokens, at);
    const from = operator === 0 ? undefined : text.beginOfValue(at - operator - 1);
    if (parameter === undefined || from === undefined) continue;
    text.prepend(from, `list_contains(${parameter}, `);
    for (let i = at - operator; i < at + 3; i += 1) text.replace(i, '');
    numbers.push(Number(parameter.slice(1)) - 1);
  }
  return numbers.length === 0 ? undefined : { sql: text.textBetween(0, tokens.length), numbers };
}

const sliceOf = (sql: string, token: Token | undefined): string =>
  token === undefined ? '' : sql.slice(token.start, token.end);

/** The number of symbols of the comparison that ends before a token; 0 = there is none. */
function comparisonBefore(text: CallText, tokens: readonly Token[], at: number): number {
  const isOne = tokens[at - 2]?.end === tokens[at - 1]?.start;
  const two = text.symbol(at - 2) + text.symbol(at - 1);
  if (isOne && two.length === 2 && COMPARISONS.has(two)) return 2;
  return COMPARISONS.has(text.symbol(at - 1)) ? 1 : 0;
}
