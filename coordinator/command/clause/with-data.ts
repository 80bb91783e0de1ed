import { SkeinError } from '#shared/error.ts';
import { foldKeyword } from '#shared/sql/fold-identifier.ts';
import type { TextSpan } from '../../statement/statement.ts';
import { Tokenizer, type Token } from '#shared/sql/tokenizer.ts';

/** Tokens of `WITH NO DATA ;`. */
const LAST_MAX = 4;

/** Takes `WITH [NO] DATA` from the end of a query, where it has no other meaning. */
export function takeWithData(query: TextSpan): { readonly query: TextSpan; readonly withData: boolean } {
  const { text, offset } = query;
  const last = lastTokens(text);
  const wordOf = (token: Token | undefined): string =>
    token?.kind === 'word' ? foldKeyword(text.slice(token.start, token.end)) : '';
  if (last.at(-1)?.kind === 'symbol' && text.charAt(last.at(-1)?.start ?? 0) === ';') last.pop();
  if (wordOf(last.at(-1)) !== 'DATA') return { query, withData: true };
  const isNo = wordOf(last.at(-2)) === 'NO';
  const begins = last.at(isNo ? -3 : -2);
  if (begins === undefined || wordOf(begins) !== 'WITH') return { query, withData: true };
  return { query: { text: text.slice(0, begins.start), offset }, withData: !isNo };
}

/** None for a text with a quote that is not closed: binding it says where. */
function lastTokens(text: string): Token[] {
  const tokens = new Tokenizer(text);
  const last: Token[] = [];
  try {
    for (let token = tokens.next(); token.kind !== 'end'; token = tokens.next()) {
      last.push(token);
      if (last.length > LAST_MAX) last.shift();
    }
    return last;
  } catch (error) {
    if (error instanceof SkeinError) return [];
    throw error;
  }
}
