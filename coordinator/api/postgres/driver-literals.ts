import { foldKeyword } from '#shared/sql/fold-identifier.ts';
import { quoteLiteral } from '#shared/sql/quote.ts';
import { stringText, Tokenizer, type Token } from '#shared/sql/tokenizer.ts';
import { readArray, readBytes } from '../../arrival/postgres/read-text.ts';
import { BadValue } from '../../arrival/postgres/value-kind.ts';
import { applyEdits, type ParameterEdit } from '../../statement/bind-parameters.ts';
import { DerivedText } from '../../statement/derived-text.ts';

/** Texts that drivers write for values of bytea and of arrays, which the engine reads in another way: `'\x00ff'::bytea`, `'{1,2}'::int[]`. */
const WRITTEN = /'\\x|'\{/;

/**
 * The statement with such texts as the engine has them; it stays as it is without one. A text is one of these when a cast to `bytea`, or to an
 * array, follows it.
 * ```
 * SELECT '\x00ff'::bytea, CAST('{1,NULL}' AS INT[])  ->  SELECT from_hex('00ff')::bytea, CAST(['1', NULL] AS INT[])
 * ```
 */
export function readDriverLiterals(sql: string): DerivedText {
  if (!WRITTEN.test(sql)) return DerivedText.whole(sql);
  const edits = castTexts(sql).flatMap(({ token, to }): readonly ParameterEdit[] => {
    const { start, end } = token;
    const text = literalOf(stringText(sql, token), to);
    return text === null ? [] : [{ start, end, text, name: '', spelled: '' }];
  });
  return applyEdits(sql, edits);
}

/** The value as SQL; null for a text that the engine reads as Postgres does, or refuses. */
function literalOf(text: string, to: 'bytea' | 'array'): string | null {
  try {
    if (to === 'bytea') return text.startsWith('\\x') ? `from_hex('${readBytes(text).toString('hex')}')` : null;
    if (!text.trimStart().startsWith('{')) return null;
    return `[${readArray(text)
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
  const tokens: Token[] = [];
  try {
    const reader = new Tokenizer(sql);
    for (let token = reader.next(); token.kind !== 'end'; token = reader.next()) tokens.push(token);
  } catch {
    return [];
  }
  const text = (i: number): string => {
    const token = tokens[i];
    return token === undefined ? '' : sql.slice(token.start, token.end);
  };
  return tokens.flatMap((token, i): readonly CastText[] => {
    if (token.kind !== 'string') return [];
    const isOperator = text(i + 1) === ':' && text(i + 2) === ':';
    const isCast = foldKeyword(text(i + 1)) === 'AS' && text(i - 1) === '(' && foldKeyword(text(i - 2)) === 'CAST';
    if (!isOperator && !isCast) return [];
    const type = isOperator ? i + 3 : i + 2;
    if (foldKeyword(text(type)) === 'BYTEA' && text(type + 1) !== '[') return [{ token, to: 'bytea' }];
    let end = type + 1;
    while (FURTHER_WORDS.has(foldKeyword(text(end)))) end += 1;
    if (text(end) === '(') while (end < tokens.length && text(end - 1) !== ')') end += 1;
    const isArray = tokens[type]?.kind === 'word' && text(end) === '[' && /^(?:\]|\d+)$/.test(text(end + 1));
    return isArray ? [{ token, to: 'array' }] : [];
  });
}
