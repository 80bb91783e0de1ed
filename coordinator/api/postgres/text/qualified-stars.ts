import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { identifierText, Tokenizer, type Token } from '#shared/sql/tokenizer.ts';
import type { ParameterEdit } from '../../../statement/bind-parameters.ts';

/** A star behind a name with its schema: a short look at a long text. */
export const QUALIFIED_STAR = /[\w"]\s*\.\s*(?:\w+|"[^"]*")\s*\.\s*\*/;

/** Longest text, in characters, that is looked at: all names with dots in it are kept at once. */
const TEXT_MAX = 512 * 1024;

/** A name of several parts, with its place; `star`: a star follows. */
type DottedName = {
  readonly parts: readonly string[];
  readonly start: number;
  readonly last: number;
  readonly isStar: boolean;
};

/**
 * The edits that leave the schema away before `table.*`, where the engine takes a table alone. Only a table that the statement names by the same
 * schema is meant: another one of its name would have other columns.
 * ```
 * SELECT public.t.* FROM public.t  ->  SELECT t.* FROM public.t
 * ```
 */
export function qualifiedStars(sql: string): readonly ParameterEdit[] {
  if (sql.length > TEXT_MAX || !QUALIFIED_STAR.test(sql)) return [];
  const names = dottedNames(sql);
  const keyOf = ({ parts }: DottedName): string => JSON.stringify(parts.map(foldIdentifier));
  const tables = new Set(names.filter(({ isStar }) => !isStar).map(keyOf));
  return names
    .filter((name) => name.isStar && name.parts.length > 1 && tables.has(keyOf(name)))
    .map(({ start, last }) => ({ start, end: last, text: '', name: '', spelled: '' }));
}

/** The names of a text; none of one that cannot be divided into tokens, which is refused elsewhere. */
function dottedNames(sql: string): readonly DottedName[] {
  const found: DottedName[] = [];
  const reader = new Tokenizer(sql);
  let open: { readonly parts: string[]; readonly start: number; last: number } | null = null;
  let isBehindDot = false;
  try {
    for (let token = reader.next(); ; token = reader.next()) {
      const symbol = token.kind === 'symbol' ? sql.slice(token.start, token.end) : '';
      if (open !== null && symbol === '.' && !isBehindDot) {
        isBehindDot = true;
        continue;
      }
      if (open !== null && isBehindDot && isName(token)) {
        open.parts.push(identifierText(sql, token));
        open.last = token.start;
        isBehindDot = false;
        continue;
      }
      if (open !== null) found.push({ ...open, isStar: isBehindDot && symbol === '*' });
      isBehindDot = false;
      open = isName(token) ? { parts: [identifierText(sql, token)], start: token.start, last: token.start } : null;
      if (token.kind === 'end') return found;
    }
  } catch {
    return [];
  }
}

const isName = ({ kind }: Token): boolean => kind === 'word' || kind === 'quoted';
