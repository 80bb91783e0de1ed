import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import type { CallText } from './call-text.ts';

/** How the values that a function gives one by one are made of its argument: `open` argument `close`. */
type Values = { readonly open: string; readonly close: string; readonly column: string };

const ELEMENTS: Values = { open: 'json_extract', close: `, '$[*]')`, column: 'value' };
const TEXTS: Values = { open: 'json_extract_string', close: `, '$[*]')`, column: 'value' };
const keysOf = (column: string): Values => ({ open: 'json_keys', close: ')', column });

/** Functions of Postgres that give a row for each value of a list of JSON, or for each key. */
const VALUES: Readonly<Record<string, Values>> = {
  JSON_ARRAY_ELEMENTS: ELEMENTS,
  JSONB_ARRAY_ELEMENTS: ELEMENTS,
  JSON_ARRAY_ELEMENTS_TEXT: TEXTS,
  JSONB_ARRAY_ELEMENTS_TEXT: TEXTS,
  JSON_OBJECT_KEYS: keysOf('json_object_keys'),
  JSONB_OBJECT_KEYS: keysOf('jsonb_object_keys'),
};

/** Functions that give keys with their values, and how the engine's own writes the value. `json_each` stays the engine's, which has more columns. */
const MEMBERS: Readonly<Record<string, string>> = {
  JSONB_EACH: '"value"',
  JSON_EACH_TEXT: `"value" ->> '$' AS "value"`,
  JSONB_EACH_TEXT: `"value" ->> '$' AS "value"`,
};

type Call = { readonly name: string; readonly at: number; readonly close: number };

/**
 * Writes functions that give rows of JSON, in FROM and, but for keys with their values, beside columns.
 * ```
 * FROM t, jsonb_array_elements(t.a) AS e WHERE e->>'b' = 'c'  ->  FROM t, (SELECT unnest(json_extract(t.a, '$[*]')) AS "e") AS e WHERE (e->>'b') = 'c'
 * FROM jsonb_each(a) AS e  ->  FROM (SELECT "key", "value" FROM json_each(a)) AS e
 * ```
 * @returns whether the function is one of these
 */
export function writeRows(text: CallText, { name, at, close }: Call): boolean {
  const values = VALUES[name];
  const member = MEMBERS[name];
  const isOne = close > at + 2 && text.divided(at + 1, close).commas.length === 0;
  if ((values === undefined && member === undefined) || !isOne) return false;
  const isSource = text.isSource(at);
  if (values === undefined) {
    if (!isSource || text.word(close + 1) === 'WITH') return false;
    text.replace(at, `(SELECT "key", ${member} FROM json_each`);
    text.append(close, ')');
    nameSource(text, close, name);
    return true;
  }
  if (!isSource) {
    text.replace(at, `unnest(${values.open}`);
    text.replace(close, `${values.close})`);
    return true;
  }
  const isNumbered = text.word(close + 1) === 'WITH' && text.word(close + 2) === 'ORDINALITY';
  const end = isNumbered ? close + 2 : close;
  const column = `"${columnOf(text, end, values)}"`;
  if (isNumbered) {
    text.replace(
      at,
      `(SELECT unnest(l) AS ${column}, unnest(range(1, len(l) + 1)) AS "ordinality" FROM (SELECT ${values.open}`,
    );
    text.replace(close, `${values.close} AS l))`);
    text.replace(close + 1, '');
    text.replace(close + 2, '');
  } else {
    text.replace(at, `(SELECT unnest(${values.open}`);
    text.replace(close, `${values.close}) AS ${column})`);
  }
  nameSource(text, end, name);
  return true;
}

/** The column has the name of the function's; where the statement reads an alias as the value, that of the alias, as in Postgres. */
function columnOf(text: CallText, end: number, { column }: Values): string {
  const alias = text.aliasBehind(end);
  return alias !== undefined && text.isReadAlone(alias) ? text.name(alias).replaceAll('"', '""') : column;
}

/** A subquery without a name has that of the function. */
function nameSource(text: CallText, end: number, name: string): void {
  if (text.aliasBehind(end) === undefined) text.append(end, ` AS ${foldIdentifier(name)}`);
}
