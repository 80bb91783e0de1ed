import { SkeinError } from '#shared/error.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { quoteLiteral } from '#shared/sql/quote.ts';
import { quotedLiteral } from '../../../dialect/postgres/functions.ts';
import type { CallText } from './call-text.ts';
import { numberText } from './number-texts.ts';
import { readTemplate, timeText } from './time-texts.ts';

/** Functions of Postgres for texts and lists that are written anew: a short look at a long text. */
export const TEXT_CALLS =
  /\b(?:initcap|[lr]pad|string_to_array|array_to_string|array_remove|array_replace|quote_nullable|format|regexp_(?:like|count|match|substr)|to_char|to_date|to_timestamp|encode|decode|date_part|extract|statement_timestamp|generate_series)\s*\(/i;

/** A call with its arguments: the tokens of its name, its closing bracket and its commas, and the first of each argument. */
export type Call = {
  readonly name: string;
  readonly at: number;
  readonly close: number;
  readonly commas: readonly number[];
  readonly args: readonly number[];
};

/** SQL with each argument once, in their order: `f($1, $2)`. */
type Template = string;

const ARGUMENTS = 'abcdefgh';

/** A template that names its arguments `_s.a`, `_s.b`, ... as often as it wants; `casts`: their types, empty = as they are. */
const withNames = (casts: readonly string[], body: string): Template => {
  const fields = casts.map((cast, i) => {
    const value = `$${i + 1}`;
    return `'${ARGUMENTS[i] ?? ''}': ${cast === '' ? value : `CAST(${value} AS ${cast})`}`;
  });
  return `(list_transform([{${fields.join(', ')}}], lambda _s: ${body})[1])`;
};

const WORDS = String.raw`'[\p{L}\p{N}]+|[^\p{L}\p{N}]+'`;
const SPLIT = `CASE WHEN _s.a IS NULL THEN NULL WHEN _s.a = '' THEN CAST([] AS VARCHAR[]) WHEN _s.b IS NULL THEN string_split(_s.a, '') WHEN _s.b = '' THEN [_s.a] ELSE string_split(_s.a, _s.b) END`;

/** By their names and the number of their arguments. */
const TEMPLATES: Readonly<Record<string, Template>> = {
  'INITCAP/1': withNames(
    ['VARCHAR'],
    `CASE WHEN _s.a IS NOT NULL THEN array_to_string(list_transform(regexp_extract_all(_s.a, ${WORDS}), lambda _w: upper(left(_w, 1)) || lower(substr(_w, 2))), '') END`,
  ),
  'LPAD/2': `lpad($1, $2, ' ')`,
  'RPAD/2': `rpad($1, $2, ' ')`,
  'STRING_TO_ARRAY/2': withNames(['VARCHAR', 'VARCHAR'], SPLIT),
  'STRING_TO_ARRAY/3': withNames(
    ['VARCHAR', 'VARCHAR', 'VARCHAR'],
    `list_transform(${SPLIT}, lambda _x: CASE WHEN _x = _s.c THEN NULL ELSE _x END)`,
  ),
  'ARRAY_REMOVE/2': withNames(['', ''], 'list_filter(_s.a, lambda _x: _x IS DISTINCT FROM _s.b)'),
  'ARRAY_REPLACE/3': withNames(
    ['', '', ''],
    'list_transform(_s.a, lambda _x: CASE WHEN _x IS NOT DISTINCT FROM _s.b THEN _s.c ELSE _x END)',
  ),
  'QUOTE_NULLABLE/1': withNames(['VARCHAR'], literalOf('_s.a')),
  'REGEXP_LIKE/2': `regexp_matches($1, $2, 's')`,
  'REGEXP_COUNT/2': `len(regexp_extract_all($1, '(?s)' || $2))`,
  'STATEMENT_TIMESTAMP/0': 'now()',
};

/** How bytes are written as a text, and read from one, by the names of the form. */
const ENCODINGS: Readonly<Record<string, readonly [encode: Template, decode: Template]>> = {
  hex: ['lower(hex($1))', 'from_hex($1)'],
  base64: ['to_base64($1)', 'from_base64($1)'],
};

/** Writes a call of Postgres' function with those of the engine. @throws NOT_SUPPORTED */
export function writeTextCall(text: CallText, call: Call): void {
  const template = TEMPLATES[`${call.name}/${call.args.length}`] ?? ofConstants(text, call);
  if (template === undefined) return;
  if (text.symbol(call.at - 1) === '.') for (const at of [call.at - 1, call.at - 2]) text.replace(at, '');
  write(text, call, template);
}

/** Puts the arguments that a template takes into it; the others, literals that it has in itself, are left out. */
function write(text: CallText, { at, close, commas, args }: Call, template: Template): void {
  const pieces = template.split(/\$\d/);
  const taken = [...template.matchAll(/\$(\d)/g)].map(([, number]) => Number(number) - 1);
  const bounds = [...commas, close];
  text.replace(at, pieces[0] ?? '');
  for (const bound of [at + 1, ...bounds]) text.replace(bound, '');
  for (const [i, first] of args.entries()) {
    const end = bounds[i] ?? close;
    const place = taken.indexOf(i);
    if (place >= 0) text.append(end - 1, pieces[place + 1] ?? '');
    else for (let token = first; token < end; token += 1) text.replace(token, '');
  }
}

/** The string that an argument is; undefined = it is something else. */
function constant(text: CallText, { args, commas, close }: Call, index: number): string | undefined {
  const at = args[index];
  return at !== undefined && text.isString(at) && at + 1 === (commas[index] ?? close) ? text.string(at) : undefined;
}

/** The template of a call that depends on the text of an argument. */
function ofConstants(text: CallText, call: Call): Template | undefined {
  const { name, args } = call;
  const second = constant(text, call, 1);
  switch (`${name}/${args.length}`) {
    case 'TO_CHAR/2': {
      const body = second === undefined ? undefined : (numberText(second, '_s.a') ?? timeText(second, '_s.a'));
      return body === undefined ? refuse(text, call, 'the template', second) : withNames([''], body);
    }
    case 'TO_DATE/2':
    case 'TO_TIMESTAMP/2': {
      const read = second === undefined ? undefined : readTemplate(second);
      const type = name === 'TO_DATE' ? 'DATE' : 'TIMESTAMP WITH TIME ZONE';
      return read === undefined
        ? refuse(text, call, 'the template', second)
        : `CAST(strptime($1, ${quoteLiteral(read)}) AS ${type})`;
    }
    case 'ARRAY_TO_STRING/3': {
      // The engine wants the separator as a constant.
      if (second === undefined) return refuse(text, call, 'the separator', second);
      const joined = `array_to_string(list_transform(_s.a, lambda _x: coalesce(_x, _s.c)), ${quoteLiteral(second)})`;
      return withNames(['VARCHAR[]', 'VARCHAR', 'VARCHAR'], joined).replace(`'b': CAST($2 AS VARCHAR), `, '');
    }
    case 'ENCODE/2':
      return ENCODINGS[second ?? '']?.[0];
    case 'DECODE/2':
      return second === 'escape' ? refuse(text, call, 'the form', second) : ENCODINGS[second ?? '']?.[1];
    case 'REGEXP_MATCH/2':
    case 'REGEXP_SUBSTR/2':
      return second === undefined ? undefined : matchOf(text, call, second);
    default:
      return name === 'FORMAT' ? formatOf(text, call) : undefined;
  }
}

function refuse(text: CallText, { name, at }: Call, what: string, value: string | undefined): never {
  const said = value === undefined ? `takes ${what} as a literal` : `does not read ${what} ${quoteLiteral(value)}`;
  throw new SkeinError('NOT_SUPPORTED', `${foldIdentifier(name)} ${said}`, { position: text.startOf(at) });
}

/**
 * The number of a pattern's groups, if each of them matches something whenever the pattern does: none is followed by `?`, `*` or `{`, and there are no
 * alternatives.
 */
function groupsOf(pattern: string): number | undefined {
  let groups = 0;
  let mayBeEmpty = false;
  for (let at = 0; at < pattern.length; at += 1) {
    const sign = pattern[at];
    if (sign === '\\') at += 1;
    else if (sign === '[') {
      // A bracket that stands first is one of its characters.
      const end = pattern.indexOf(']', pattern[at + 1] === '^' ? at + 3 : at + 2);
      at = end < 0 ? pattern.length : end;
    } else if (sign === '(' && pattern[at + 1] !== '?') groups += 1;
    else if (sign === '|' || (sign === ')' && '?*{'.includes(pattern[at + 1] ?? ' '))) mayBeEmpty = true;
  }
  return groups > 0 && mayBeEmpty ? undefined : groups;
}

/** `regexp_match(a, '(b)(c)')` gives a list of the groups, or what matched; `regexp_substr` what matched. */
function matchOf(text: CallText, call: Call, pattern: string): Template | undefined {
  const isList = call.name === 'REGEXP_MATCH';
  const groups = isList ? groupsOf(pattern) : 0;
  if (groups === undefined) return refuse(text, call, 'the groups of', pattern);
  const quoted = quoteLiteral(`(?s)${pattern}`);
  const found = Array.from({ length: Math.max(groups, 1) }, (_, i) => {
    return `regexp_extract(_s.a, ${quoted}, ${groups === 0 ? 0 : i + 1})`;
  });
  const value = isList ? `[${found.join(', ')}]` : (found[0] ?? '');
  return withNames(['VARCHAR'], `CASE WHEN regexp_matches(_s.a, ${quoted}) THEN ${value} END`);
}

const FORMAT_PART = /%(?:%|(\d+)\$)?([sIL])?/g;

/** `format('%s-%L', a, b)`, by a template of Postgres; one without `%` is the engine's. */
function formatOf(text: CallText, call: Call): Template | undefined {
  const template = constant(text, call, 0);
  if (template === undefined || !template.includes('%')) return undefined;
  let taken = 0;
  let end = 0;
  const parts: string[] = [];
  for (const { 0: found, 1: place, 2: kind, index } of template.matchAll(FORMAT_PART)) {
    parts.push(quoteLiteral(template.slice(end, index)));
    end = index + found.length;
    if (found.startsWith('%%')) {
      parts.push(quoteLiteral(found.slice(1)));
      continue;
    }
    taken = place === undefined ? taken + 1 : Number(place);
    const field = ARGUMENTS[taken - 1];
    const isKnown = (kind === 's' || kind === 'L') && taken >= 1 && taken < call.args.length && field !== undefined;
    if (!isKnown) return refuse(text, call, 'the template', template);
    const value = textOf(`_s.${field}`);
    parts.push(kind === 's' ? `coalesce(${value}, '')` : literalOf(value));
  }
  parts.push(quoteLiteral(template.slice(end)));
  const body = parts.filter((one) => one !== `''`).join(' || ');
  // A parameter has no type of its own.
  const values = call.args.slice(1).map((first) => (text.isParameter(first) ? 'VARCHAR' : ''));
  // The template itself stands first.
  if (values.length === 0) return body === '' ? `''` : `(${body})`;
  return withNames(values, `(${body})`).replaceAll(/\$(\d)/g, (_, i: string) => `$${Number(i) + 1}`);
}

/** Types whose texts are those of Postgres. */
const PLAIN_TYPES = `'VARCHAR', '"NULL"', 'JSON', 'TINYINT', 'SMALLINT', 'INTEGER', 'BIGINT', 'HUGEINT', 'DATE', 'TIME', 'TIMESTAMP', 'TIMESTAMP WITH TIME ZONE', 'UUID'`;

/** A value as a text, as Postgres has it; an error where the engine's is another one. */
const textOf = (value: string): string =>
  `CASE WHEN typeof(${value}) = 'BOOLEAN' THEN left(CAST(${value} AS VARCHAR), 1) WHEN typeof(${value}) IN (${PLAIN_TYPES}) OR typeof(${value}) LIKE 'DECIMAL%' THEN CAST(${value} AS VARCHAR) WHEN ${value} IS NULL THEN NULL ELSE CAST(error('format of a value of type ' || typeof(${value}) || ' is not served') AS VARCHAR) END`;

/** A value in quotes, with those in it doubled, as Postgres' `quote_nullable` writes it. */
function literalOf(value: string): string {
  return `coalesce(${quotedLiteral(value)}, 'NULL')`;
}
