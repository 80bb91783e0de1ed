import { SkeinError } from '#shared/error.ts';
import { quoteLiteral } from '#shared/sql/quote.ts';
import { readArray } from '../../../arrival/postgres/read-text.ts';
import { BadValue } from '../../../arrival/postgres/value-kind.ts';
import type { CallText } from './call-text.ts';
import { containsText } from './json-contains.ts';

/** The keys of an object, the texts of a list, or a text itself. */
const KEYS = `CASE json_type(_s.a) WHEN 'OBJECT' THEN json_keys(_s.a) WHEN 'ARRAY' THEN list_transform(list_filter(json_extract(_s.a, '$[*]'), lambda _e: json_type(_e) = 'VARCHAR'), lambda _e: json_extract_string(_e, '$')) WHEN 'VARCHAR' THEN [json_extract_string(_s.a, '$')] ELSE CAST([] AS VARCHAR[]) END`;
const IS_NULL = '_s.a IS NULL OR _s.b IS NULL';

/** By the operator: the condition, and the type of what stands behind it. */
const OF_KEYS: Readonly<Record<string, readonly [condition: string, type: string]>> = {
  '?': [`list_contains(${KEYS}, _s.b)`, 'VARCHAR'],
  '?|': [`list_has_any(${KEYS}, _s.b)`, 'VARCHAR[]'],
  '?&': [`list_has_all(${KEYS}, _s.b)`, 'VARCHAR[]'],
};

/** The operator that begins at a token; empty = none of these. */
export function searchAt(text: CallText, at: number): string {
  const next = text.endOf(at) === text.startOf(at + 1) ? text.symbol(at + 1) : '';
  switch (text.symbol(at)) {
    case '?':
      return next === '|' || next === '&' ? `?${next}` : '?';
    case '@':
      return next === '>' && !isPart(text, at) ? '@>' : '';
    default:
      return '';
  }
}

/** Whether other signs stand beside the two, so that they are another operator. */
const isPart = (text: CallText, at: number): boolean =>
  (text.endOf(at - 1) === text.startOf(at) && /[-~!@#%^&|<>=+*/]/.test(text.symbol(at - 1) || ' ')) ||
  (text.endOf(at + 1) === text.startOf(at + 2) && /[~!@#%^&|<>=+*/]/.test(text.symbol(at + 2) || ' '));

/** Where an operator stands: the first token of the value before it, its own first one, and the first one behind it. */
type Search = { readonly operator: string; readonly from: number; readonly at: number; readonly first: number };

/**
 * Writes an operator that looks for keys in JSON, or for the value that a literal is.
 * ```
 * a ? 'b'                  ->  (list_transform([{'a': CAST(a AS JSON), 'b': CAST('b' AS VARCHAR)}], lambda _s: ...)[1])
 * a @> '{"b": 1}'::jsonb   ->  (list_transform([{'a': CAST(a AS JSON)}], lambda _s: ...)[1])
 * ```
 * @returns its last token; undefined where it stays as it is, as `@>` of lists
 * @throws NOT_SUPPORTED for `?` where it can be nothing else, and what stands beside it is more than a value
 */
export function writeSearch(text: CallText, search: Search): number | undefined {
  return search.operator.startsWith('?') ? writeKeys(text, search) : writeContains(text, search);
}

function writeKeys(text: CallText, { operator, from, at, first }: Search): number | undefined {
  const [condition, type] = OF_KEYS[operator] ?? ['', ''];
  const list = operator === '?' ? null : text.stringsOfArray(first);
  const isValue = text.isString(first) || text.isParameter(first);
  if (!isValue && list === null) {
    throw new SkeinError('NOT_SUPPORTED', `${operator} of JSON takes a literal or a parameter`, {
      position: text.startOf(at),
    });
  }
  const end = list === null ? first : (text.closing(first + 1) ?? first);
  const last = text.endOfCasts(end);
  if (operator !== '?' && text.isString(first)) {
    const elements = arrayOf(text.string(first));
    if (elements === undefined) return undefined;
    text.replace(first, `[${elements.map((one) => (one === null ? 'NULL' : quoteLiteral(one))).join(', ')}]`);
    for (let i = first + 1; i <= last; i += 1) text.replace(i, '');
  }
  text.prepend(from, `(list_transform([{'a': CAST(`);
  text.replace(at, ` AS JSON), 'b': CAST(`);
  for (let i = at + 1; i < first; i += 1) text.replace(i, '');
  text.append(last, ` AS ${type})}], lambda _s: CASE WHEN ${IS_NULL} THEN NULL ELSE ${condition} END)[1])`);
  return last;
}

function arrayOf(text: string): readonly (string | null)[] | undefined {
  try {
    return readArray(text);
  } catch (error) {
    if (error instanceof BadValue) return undefined;
    throw error;
  }
}

function writeContains(text: CallText, { from, at, first }: Search): number | undefined {
  if (!text.isString(first)) return undefined;
  const end = text.endOfCasts(first);
  const value = text.string(first);
  const isCast = end > first && ['JSON', 'JSONB'].includes(text.word(end));
  // A text that may be a list of Postgres, too, is JSON by its cast alone.
  if (!isCast && (end > first || !/^\s*(?:\{\s*"[^]*:|\[)/.test(value))) return undefined;
  const condition = containsText('_s.a', value);
  if (condition === undefined) {
    throw new SkeinError('NOT_SUPPORTED', '@> of JSON does not take this value', { position: text.startOf(first) });
  }
  text.prepend(from, `(list_transform([{'a': CAST(`);
  // The literal stays, so that one that is no JSON is an error.
  text.replace(at, ` AS JSON), 'b': CAST(`);
  text.replace(at + 1, '');
  text.append(end, ` AS JSON)}], lambda _s: ${condition})[1])`);
  return end;
}
