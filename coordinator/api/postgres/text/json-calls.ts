import { quoteLiteral } from '#shared/sql/quote.ts';
import type { ParameterEdit } from '../../../statement/bind-parameters.ts';
import { CallText, tokensOf } from './call-text.ts';
import { nameColumns } from './column-names.ts';
import { JSON_OPERATORS, pointerOf, writeOperators } from './json-operators.ts';
import { writeRows } from './json-rows.ts';
import { isPostgresQuery } from '../../../prepare/postgres-query.ts';
import { PATTERN_OPERATORS, writePatterns } from './pattern-operators.ts';
import { writeSeries } from './series-calls.ts';
import { SortedSources } from './sorted-sources.ts';
import { TEXT_CALLS, writeTextCall } from './text-calls.ts';
import { writeField } from './time-fields.ts';

/** Calls of Postgres' functions that are written anew, most of which make JSON, and casts to its type: a short look at a long text. */
const JSON_CALLS =
  /\b(?:btrim|every|to_jsonb?|(?:row|array)_to_json|jsonb?_(?:agg|object_agg|build_array|build_object|typeof|array_elements|array_elements_text|object_keys|each_text|extract_path|extract_path_text)|jsonb_(?:array_length|pretty|each))\s*\(|(?:::|\bas)\s*jsonb\b|\bjsonb\s*'/i;

/** Whether a statement may have such a call, or an operator of JSON. */
const mayHaveJson = (sql: string): boolean => JSON_CALLS.test(sql) || JSON_OPERATORS.test(sql);

/** Whether a statement may have a call of a function of texts, or an operator of patterns; what Postgres' parser reads is written anew there. */
const mayHaveTexts = (sql: string): boolean =>
  (TEXT_CALLS.test(sql) || PATTERN_OPERATORS.test(sql)) && !isPostgresQuery(sql);

/** Whether a statement may have what is written anew: a short look at a long text. */
export const mayHaveCalls = (sql: string): boolean =>
  mayHaveJson(sql) || TEXT_CALLS.test(sql) || PATTERN_OPERATORS.test(sql);

/** Longest text, in characters, whose calls are written anew: all of its tokens are kept at once. */
const TEXT_MAX = 512 * 1024;

/** Functions of the engine that do the same with the same arguments, by the names of Postgres. */
const RENAMED: Readonly<Record<string, string>> = {
  BTRIM: 'trim',
  EVERY: 'bool_and',
  TO_JSON: 'to_json',
  TO_JSONB: 'to_json',
  ROW_TO_JSON: 'row_to_json',
  ARRAY_TO_JSON: 'array_to_json',
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
  if (sql.length > TEXT_MAX || !mayHaveCalls(sql)) return [];
  const [hasJson, hasTexts] = [mayHaveJson(sql), mayHaveTexts(sql)];
  if (!hasJson && !hasTexts) return [];
  const tokens = tokensOf(sql);
  if (tokens === undefined) return [];
  const text = new CallText(sql, tokens);
  if (hasJson) writeOperators(text);
  if (hasTexts) writePatterns(text);
  // From the last one, so that what a call within another one ends with comes first.
  const sources = new SortedSources(text);
  for (let at = tokens.length - 1; at >= 0; at -= 1) writeCall(text, at, { sources, hasTexts });
  nameColumns(text);
  return text.edits();
}

/** Words behind which a name with brackets is no call. */
const NAMED_BEHIND: ReadonlySet<string> = new Set(['INTO', 'TABLE', 'EXISTS', 'VIEW', 'AS', 'WITH', 'RECURSIVE']);

type Writing = { readonly sources: SortedSources; readonly hasTexts: boolean };

function writeCall(text: CallText, at: number, { sources, hasTexts }: Writing): void {
  const name = text.word(at);
  if (name === 'JSONB' && (text.isCastTo(at) || text.isString(at + 1))) text.replace(at, 'JSON');
  const close = text.symbol(at + 1) === '(' ? text.closing(at + 1) : undefined;
  if (name === '' || close === undefined || !text.isPlainName(at) || NAMED_BEHIND.has(text.word(at - 1))) return;
  const end = text.endOfCall(close);
  const call = { name, at, close, end };
  if (writeRows(text, call) || writeNamed(text, call, sources)) return;
  if (hasTexts && end === close) writeText(text, call);
}

type Call = { readonly name: string; readonly at: number; readonly close: number; readonly end: number };

/** Writes a function of texts, lists and times. */
function writeText(text: CallText, { name, at, close }: Call): void {
  if (!TEXT_CALLS.test(`${name}(`) || writeField(text, { name, at, close })) return;
  const { commas, order } = text.divided(at + 1, close);
  if (order !== undefined) return;
  const args = close === at + 2 ? [] : [at + 2, ...commas.map((comma) => comma + 1)];
  if (name === 'GENERATE_SERIES') writeSeries(text, { at, close, commas });
  else writeTextCall(text, { name, at, close, commas, args });
}

/** @returns whether the function is one of these */
function writeNamed(text: CallText, { name, at, close, end }: Call, sources: SortedSources): boolean {
  if (PATHS[name] !== undefined) return writePath(text, { name, at, close });
  const renamed = RENAMED[name];
  if (renamed !== undefined) {
    text.replace(at, renamed);
    writeRow(text, at + 1, close);
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
    writeRow(text, at + 1, close);
    const isSorted =
      text.divided(at + 1, close).order !== undefined || text.isWindow(close) || text.word(at + 2) === 'DISTINCT';
    const order = isSorted ? undefined : sources.orderOf(at);
    if (order !== undefined) text.append(close - 1, ` ORDER BY ${order}`);
    text.append(end, ')');
    return true;
  }
  return OBJECT_AGGREGATES.has(name) && writeObjects(text, { at, close, end });
}

/** `f(t.*)`: a row as one value, which the engine has by the name alone. */
function writeRow(text: CallText, open: number, close: number): void {
  const isRow = close === open + 4 && text.symbol(open + 2) === '.' && text.symbol(open + 3) === '*';
  if (isRow && text.name(open + 1) !== '') for (const at of [open + 2, open + 3]) text.replace(at, '');
}

const PATHS: Readonly<Record<string, string>> = {
  JSON_EXTRACT_PATH: 'json_extract',
  JSONB_EXTRACT_PATH: 'json_extract',
  JSON_EXTRACT_PATH_TEXT: 'json_extract_string',
  JSONB_EXTRACT_PATH_TEXT: 'json_extract_string',
};

/** `jsonb_extract_path(a, 'b', '0')`. @returns false for keys that are no literals */
function writePath(text: CallText, { name, at, close }: Omit<Call, 'end'>): boolean {
  const { commas } = text.divided(at + 1, close);
  const [first] = commas;
  const keys = commas.map((comma) => comma + 1);
  const arePlain = keys.every((key, i) => text.isString(key) && key + 1 === (commas[i + 1] ?? close));
  if (first === undefined || !arePlain || keys.some((key) => /^-\d/.test(text.string(key)))) return false;
  text.replace(at, PATHS[name] ?? '');
  const pointer = quoteLiteral(pointerOf(keys.map(text.string)));
  for (let i = first; i < close; i += 1) text.replace(i, i === first ? `, ${pointer}` : '');
  return true;
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
