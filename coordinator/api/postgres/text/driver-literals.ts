import { foldKeyword } from '#shared/sql/fold-identifier.ts';
import { quoteLiteral } from '#shared/sql/quote.ts';
import { stringText, Tokenizer, type Token } from '#shared/sql/tokenizer.ts';
import { readArray, readBytes } from '../../../arrival/postgres/read-text.ts';
import { BadValue } from '../../../arrival/postgres/value-kind.ts';
import { applyEdits, type ParameterEdit } from '../../../statement/bind-parameters.ts';
import { DerivedText } from '../../../statement/derived-text.ts';
import { jsonCalls, mayHaveCalls } from './json-calls.ts';
import { QUALIFIED_STAR, qualifiedStars } from './qualified-stars.ts';
import { UNNEST_IN_FROM, unnestLists } from './unnest-lists.ts';

/** Texts that drivers write for values of bytea and of arrays, which the engine reads in another way: `'\x00ff'::bytea`, `'{1,2}'::int[]`. */
const WRITTEN = /'\\x|'\{/;

/**
 * The statement with such texts as the engine has them; it stays as it is without one. A text is one of these when a cast to `bytea`, or to an
 * array, follows it.
 * ```
 * SELECT '\x00ff'::bytea, CAST('{1,NULL}' AS INT[])  ->  SELECT from_hex('00ff')::bytea, CAST(ARRAY['1', NULL] AS INT[])
 * ```
 */
export function readDriverLiterals(sql: string): DerivedText {
  const edits = mayHaveLiterals(sql) ? driverLiterals(sql) : [];
  return withDriverLiterals(sql, edits);
}

export const withDriverLiterals = (sql: string, edits: readonly ParameterEdit[]): DerivedText =>
  edits.length === 0 ? DerivedText.whole(sql) : applyEdits(sql, edits);

/** Whether a statement may have such a text: a short look at a long one. */
export const mayHaveLiterals = (sql: string): boolean =>
  WRITTEN.test(sql) || UNNEST_IN_FROM.test(sql) || mayHaveCalls(sql) || QUALIFIED_STAR.test(sql);

/** The changes that `readDriverLiterals` makes, in their order. */
export function driverLiterals(sql: string): readonly ParameterEdit[] {
  const calls = [...unnestLists(sql), ...jsonCalls(sql), ...qualifiedStars(sql)];
  const texts = literalEdits(sql);
  if (calls.length === 0) return texts;
  // A path of JSON is written anew, and may be cast to an array.
  const replaced = new Set(calls.filter(({ start, end }) => end > start).map(({ start }) => start));
  const others = texts.filter(({ start }) => !replaced.has(start));
  return [...calls, ...others].toSorted((a, b) => a.start - b.start || a.end - b.end);
}

function literalEdits(sql: string): readonly ParameterEdit[] {
  return castTexts(sql).flatMap(({ token, to }): readonly ParameterEdit[] => {
    const { start, end } = token;
    const text = literalOf(stringText(sql, token), to);
    return text === null ? [] : [{ start, end, text, name: '', spelled: '' }];
  });
}

/** The value as SQL; null for a text that the engine reads as Postgres does, or refuses. */
export function literalOf(text: string, to: 'bytea' | 'array'): string | null {
  try {
    if (to === 'bytea') return text.startsWith('\\x') ? `from_hex('${readBytes(text).toString('hex')}')` : null;
    if (!text.trimStart().startsWith('{')) return null;
    return `ARRAY[${readArray(text)
      .map((one) => (one === null ? 'NULL' : quoteLiteral(one)))
      .join(', ')}]`;
  } catch (error) {
    if (error instanceof BadValue) return null;
    throw error;
  }
}

/** Words behind the first one of a type's name: `double precision`, `timestamp with time zone`. */
const FURTHER_WORDS: ReadonlySet<string> = new Set(['PRECISION', 'VARYING', 'WITH', 'WITHOUT', 'TIME', 'ZONE']);

type CastText = { readonly token: Token; readonly to: 'bytea' | 'array' };

/** The strings that are cast to these types. A text that cannot be divided into tokens has none. */
function castTexts(sql: string): readonly CastText[] {
  const found: CastText[] = [];
  const reader = new Tokenizer(sql);
  /** The two tokens before. */
  let [before, last]: readonly [Token | null, Token | null] = [null, null];
  try {
    for (let token = reader.next(); token.kind !== 'end'; token = reader.next()) {
      const to = token.kind === 'string' && begins(sql, token) ? castOf(sql, token, [before, last]) : null;
      if (to !== null) found.push({ token, to });
      [before, last] = [last, token];
    }
  } catch {
    return [];
  }
  return found;
}

/** Whether a string may be the text of such a value. */
const begins = (sql: string, { start, end }: Token): boolean =>
  /\\x|\{/.test(sql.slice(start, Math.min(end, start + BEGIN)));
const BEGIN = 100;

/** Tokens of a cast behind a string: `:: timestamp ( 6 ) with time zone [ 3 ]`. */
const CAST_TOKENS = 16;

/** The type to which a string is cast, as far as it matters. */
function castOf(
  sql: string,
  string: Token,
  [before, last]: readonly [Token | null, Token | null],
): 'bytea' | 'array' | null {
  const reader = new Tokenizer(sql, string.end);
  const tokens: Token[] = [];
  const text = (i: number): string => {
    while (tokens.length <= Math.min(i, CAST_TOKENS)) tokens.push(reader.next());
    const token = tokens[i];
    return token === undefined ? '' : sql.slice(token.start, token.end);
  };
  const textOf = (token: Token | null): string => (token === null ? '' : sql.slice(token.start, token.end));
  // Brackets around the string alone, which are no call: `(('{1,2}')::int[])`.
  const brackets = text(0) === ')' && textOf(last) === '(' && before?.kind === 'symbol' ? 1 : 0;
  const isOperator = text(brackets) === ':' && text(brackets + 1) === ':';
  const isCast = foldKeyword(text(0)) === 'AS' && textOf(last) === '(' && foldKeyword(textOf(before)) === 'CAST';
  if (!isOperator && !isCast) return null;
  const type = isOperator ? brackets + 2 : 1;
  if (foldKeyword(text(type)) === 'BYTEA' && text(type + 1) !== '[') return 'bytea';
  let end = type + 1;
  while (FURTHER_WORDS.has(foldKeyword(text(end)))) end += 1;
  if (text(end) === '(') while (end < CAST_TOKENS && text(end - 1) !== ')') end += 1;
  while (FURTHER_WORDS.has(foldKeyword(text(end)))) end += 1;
  const isArray = tokens[type]?.kind === 'word' && text(end) === '[' && /^(?:\]|\d+)$/.test(text(end + 1));
  return isArray ? 'array' : null;
}
