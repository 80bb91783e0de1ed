import { foldKeyword } from '#shared/sql/fold-identifier.ts';
import { identifierText, stringText, Tokenizer, type Token } from '#shared/sql/tokenizer.ts';
import { printSqlType } from '../../../plan/sql-type.ts';
import type { PreparedStatement } from '../../../session/prepared-statement.ts';
import type { ParameterEdit } from '../../../statement/bind-parameters.ts';
import { castTypes } from './cast-parameters.ts';
import { literalOf } from './driver-literals.ts';

type Known = Pick<PreparedStatement, 'sql' | 'parameters'>;

/**
 * The edits that write the texts that EXECUTE gives for bytes and arrays as the engine has them. The statement that is prepared says which they are.
 * ```
 * PREPARE p (bytea, int[]) AS ...; EXECUTE p('\x00ff', '{1,2}')  ->  EXECUTE p(from_hex('00ff'), ARRAY['1', '2'])
 * ```
 * @param find the prepared statement of a name
 */
export function executeValues(sql: string, find: (name: string) => Known | undefined): readonly ParameterEdit[] {
  try {
    const reader = new Tokenizer(sql);
    const [word, name, open] = [reader.next(), reader.next(), reader.next()];
    if (foldKeyword(sql.slice(word.start, word.end)) !== 'EXECUTE' || sql.slice(open.start, open.end) !== '(')
      return [];
    const known = find(identifierText(sql, name));
    if (known === undefined) return [];
    const casts = castTypes(known.sql);
    return plainTexts(sql, reader).flatMap(({ token, number }): readonly ParameterEdit[] => {
      const type = known.parameters[number]?.type ?? null;
      const kind = kindOf(type === null ? (casts.get(number) ?? '') : printSqlType(type));
      const text = kind === null ? null : literalOf(stringText(sql, token), kind);
      return text === null ? [] : [{ start: token.start, end: token.end, text, name: '', spelled: '' }];
    });
  } catch {
    // A text that cannot be divided into tokens is refused elsewhere.
    return [];
  }
}

const kindOf = (type: string): 'bytea' | 'array' | null =>
  type === 'BLOB' ? 'bytea' : type.endsWith('[]') ? 'array' : null;

/** The values that are one string, with their numbers from 0. */
function plainTexts(sql: string, reader: Tokenizer): readonly { readonly token: Token; readonly number: number }[] {
  const found: { readonly token: Token; readonly number: number }[] = [];
  let [depth, number] = [0, 0];
  /** The only token of the value so far; null = it has none, or several. */
  let only: Token | null = null;
  let isFirst = true;
  for (let token = reader.next(); token.kind !== 'end'; token = reader.next()) {
    const symbol = token.kind === 'symbol' ? sql.slice(token.start, token.end) : '';
    if (depth === 0 && (symbol === ',' || symbol === ')')) {
      if (only?.kind === 'string') found.push({ token: only, number });
      if (symbol === ')') return found;
      [number, only, isFirst] = [number + 1, null, true];
      continue;
    }
    only = isFirst ? token : null;
    isFirst = false;
    if ('([{'.includes(symbol) && symbol !== '') depth += 1;
    if (')]}'.includes(symbol) && symbol !== '') depth -= 1;
  }
  return [];
}
