import { foldKeyword } from '#shared/sql/fold-identifier.ts';
import { Tokenizer, type Token } from '#shared/sql/tokenizer.ts';
import type { ParameterEdit } from '../../../statement/bind-parameters.ts';

/** Words before which `unnest` gives rows. */
const BEFORE: ReadonlySet<string> = new Set(['FROM', 'JOIN', 'LATERAL']);
export const UNNEST_IN_FROM = /\b(?:from|join|lateral)\s+unnest\s*\(/i;

/**
 * The edits that write an `unnest` of several lists in FROM, by which clients of Postgres insert many rows, as the engine has it. One of a single list
 * stays, and so does one with WITH ORDINALITY, which the engine then refuses.
 * ```
 * INSERT INTO t SELECT * FROM UNNEST($1::int[], f(a, b))
 *   ->  INSERT INTO t SELECT * FROM (SELECT UNNEST($1::int[]) AS unnest, UNNEST(f(a, b)) AS unnest)
 * ```
 */
export function unnestLists(sql: string): readonly ParameterEdit[] {
  if (!UNNEST_IN_FROM.test(sql)) return [];
  try {
    return editsOf(sql);
  } catch {
    // A text that cannot be divided into tokens is refused elsewhere.
    return [];
  }
}

/** A call whose closing bracket has not come: where it begins, how deep its arguments are, the commas between them. */
type OpenCall = { readonly start: number; readonly end: number; readonly depth: number; readonly commas: Token[] };

function editsOf(sql: string): readonly ParameterEdit[] {
  const found: ParameterEdit[] = [];
  const calls: OpenCall[] = [];
  const reader = new Tokenizer(sql);
  const textOf = (token: Token | null): string => (token === null ? '' : sql.slice(token.start, token.end));
  let depth = 0;
  let [before, last]: readonly [Token | null, Token | null] = [null, null];
  for (let token = reader.next(); token.kind !== 'end'; token = reader.next()) {
    const symbol = token.kind === 'symbol' ? textOf(token) : '';
    if ('([{'.includes(symbol) && symbol !== '') {
      depth += 1;
      const isUnnest = symbol === '(' && foldKeyword(textOf(last)) === 'UNNEST';
      if (last !== null && isUnnest && BEFORE.has(foldKeyword(textOf(before)))) {
        calls.push({ start: last.start, end: token.end, depth, commas: [] });
      }
    } else if (symbol === ',' && calls.at(-1)?.depth === depth) {
      calls.at(-1)?.commas.push(token);
    } else if (')]}'.includes(symbol) && symbol !== '') {
      const call = calls.at(-1);
      if (call?.depth === depth) {
        calls.pop();
        if (call.commas.length > 0 && !isNumbered(sql, token)) found.push(...written(call, token));
      }
      depth -= 1;
    }
    [before, last] = [last, token];
  }
  return found;
}

const isNumbered = (sql: string, { end }: Token): boolean => {
  const next = new Tokenizer(sql, end).next();
  return foldKeyword(sql.slice(next.start, next.end)) === 'WITH';
};

const written = ({ start, end, commas }: OpenCall, close: Token): readonly ParameterEdit[] => [
  edit(start, end, '(SELECT UNNEST('),
  ...commas.map((comma) => edit(comma.start, comma.end, ') AS unnest, UNNEST(')),
  edit(close.start, close.end, ') AS unnest)'),
];

const edit = (start: number, end: number, text: string): ParameterEdit => ({ start, end, text, name: '', spelled: '' });
