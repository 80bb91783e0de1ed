import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { Tokenizer, type Token } from '#shared/sql/tokenizer.ts';
import type { ParameterEdit } from '../../statement/bind-parameters.ts';
import { CallText } from './call-text.ts';
import { SortedSources } from './sorted-sources.ts';

/** Calls of Postgres' functions that make JSON, and casts to its type: a short look at a long text. */
export const JSON_CALLS =
  /\b(?:to_jsonb|jsonb?_(?:agg|object_agg|build_array|build_object|typeof)|jsonb_(?:array_length|pretty))\s*\(|(?:::|\bas)\s*jsonb\b/i;

/** Longest text, in characters, whose calls are written anew: all of its tokens are kept at once. */
const TEXT_MAX = 512 * 1024;

/** Functions of the engine that do the same with the same arguments, by the names of Postgres. */
const RENAMED: Readonly<Record<string, string>> = {
  TO_JSONB: 'to_json',
  JSON_BUILD_ARRAY: 'json_array',
  JSONB_BUILD_ARRAY: 'json_array',
  JSON_BUILD_OBJECT: 'json_object',
  JSONB_BUILD_OBJECT: 'json_object',
  JSONB_ARRAY_LENGTH: 'json_array_length',
  JSONB_PRETTY: 'json_pretty',
};

const AGGREGATES: ReadonlySet<string> = new Set(['JSON_AGG', 'JSONB_AGG']);
const OBJECT_AGGREGATES: ReadonlySet<string> = new Set(['JSON_OBJECT_AGG', 'JSONB_OBJECT_AGG']);
const TYPE_NAMES: ReadonlySet<string> = new Set(['JSON_TYPEOF', 'JSONB_TYPEOF']);

/** Names of types in JSON, by those of the engine. */
const TYPES = Object.entries({
  OBJECT: 'object',
  ARRAY: 'array',
  VARCHAR: 'string',
  BOOLEAN: 'boolean',
  NULL: 'null',
  BIGINT: 'number',
  UBIGINT: 'number',
  HUGEINT: 'number',
  UHUGEINT: 'number',
  DOUBLE: 'number',
})
  .map(([ours, theirs]) => ` WHEN '${ours}' THEN '${theirs}'`)
  .join('');

/**
 * The edits that write calls of Postgres' functions for JSON with the functions of the engine. Its aggregates of JSON are macros, which take no
 * ORDER BY, FILTER or OVER, so lists and texts are aggregated in their place; no row gives NULL, as in Postgres.
 * ```
 * SELECT jsonb_agg(a ORDER BY b) FILTER (WHERE c), jsonb_build_array(1, d)
 *   ->  SELECT to_json(list(a ORDER BY b) FILTER (WHERE c)), json_array(1, d)
 * ```
 * An aggregate over one subquery that is sorted has its order (`SortedSources`).
 */
export function jsonCalls(sql: string): readonly ParameterEdit[] {
  if (sql.length > TEXT_MAX || !JSON_CALLS.test(sql)) return [];
  const tokens = tokensOf(sql);
  if (tokens === undefined) return [];
  const text = new CallText(sql, tokens);
  // From the last one, so that what a call within another one ends with comes first.
  const sources = new SortedSources(text);
  for (let at = tokens.length - 1; at >= 0; at -= 1) writeCall(text, at, sources);
  return text.edits();
}

/** Undefined for a text that cannot be divided into tokens, which is refused elsewhere. */
function tokensOf(sql: string): readonly Token[] | undefined {
  const reader = new Tokenizer(sql);
  const tokens: Token[] = [];
  try {
    for (let token = reader.next(); token.kind !== 'end'; token = reader.next()) tokens.push(token);
  } catch {
    return undefined;
  }
  return tokens;
}

/** Words behind which a name with brackets is no call. */
const NAMED_BEHIND: ReadonlySet<string> = new Set(['INTO', 'TABLE', 'EXISTS', 'VIEW', 'AS', 'WITH', 'RECURSIVE']);

function writeCall(text: CallText, at: number, sources: SortedSources): void {
  const name = text.word(at);
  if (name === 'JSONB' && text.isCastTo(at)) text.replace(at, 'JSON');
  const close = text.symbol(at + 1) === '(' ? text.closing(at + 1) : undefined;
  if (name === '' || close === undefined || !text.isPlainName(at) || NAMED_BEHIND.has(text.word(at - 1))) return;
  const end = text.endOfCall(close);
  const isColumn = text.isColumn(at, end);
  if (!writeNamed(text, { name, at, close, end }, sources)) return;
  // Programs read a result by Postgres' names of its columns.
  if (isColumn) text.append(end, ` AS ${foldIdentifier(name)}`);
}

type Call = { readonly name: string; readonly at: number; readonly close: number; readonly end: number };

/** @returns whether the function is one of these */
function writeNamed(text: CallText, { name, at, close, end }: Call, sources: SortedSources): boolean {
  const renamed = RENAMED[name];
  if (renamed !== undefined) {
    text.replace(at, renamed);
    if (renamed === 'json_object') castKeys(text, at + 1, close);
    return true;
  }
  if (TYPE_NAMES.has(name)) {
    text.replace(at, '(CASE json_type');
    text.append(close, `${TYPES} END)`);
    return true;
  }
  if (AGGREGATES.has(name)) {
    text.replace(at, 'to_json(list');
    const isSorted =
      text.divided(at + 1, close).order !== undefined || text.isWindow(close) || text.word(at + 2) === 'DISTINCT';
    const order = isSorted ? undefined : sources.orderOf(at);
    if (order !== undefined) text.append(close - 1, ` ORDER BY ${order}`);
    text.append(end, ')');
    return true;
  }
  return OBJECT_AGGREGATES.has(name) && writeObjects(text, { at, close, end });
}

/** Keys of objects are texts, whatever is given as one. */
function castKeys(text: CallText, open: number, close: number): void {
  const { commas } = text.divided(open, close);
  const bounds = [open, ...commas, close];
  for (let i = 0; i + 1 < bounds.length; i += 2) {
    const [before = open, behind = close] = bounds.slice(i, i + 2);
    if (behind === before + 1 || (behind === before + 2 && text.isString(before + 1))) continue;
    text.append(before, ' CAST(');
    text.append(behind - 1, ' AS VARCHAR)');
  }
}

/** `jsonb_object_agg(k, v ORDER BY o)`: members as texts with commas between them. A key that is NULL is an error, as in Postgres. */
function writeObjects(text: CallText, { at, close, end }: Omit<Call, 'name'>): boolean {
  const first = text.word(at + 2) === 'DISTINCT' ? at + 2 : at + 1;
  const { commas, order } = text.divided(at + 1, close);
  const [comma] = commas;
  if (comma === undefined || commas.length > 1) return false;
  text.replace(at, `CAST('{' || string_agg`);
  text.append(first, ' coalesce(CAST(to_json(CAST(');
  text.replace(
    comma,
    ` AS VARCHAR)) AS VARCHAR), error('field name must not be null')) || ':' || coalesce(CAST(to_json(`,
  );
  text.append((order ?? close) - 1, `) AS VARCHAR), 'null'), ','`);
  text.append(end, ` || '}' AS JSON)`);
  return true;
}
