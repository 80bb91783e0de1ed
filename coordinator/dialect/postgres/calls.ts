import { quoteIdentifier, quoteLiteral } from '#shared/sql/quote.ts';
import type { PostgresPart } from '../../binding/planner.ts';
import type { JsonObject } from '#shared/json.ts';
import { numberNamed } from './casts.ts';
import { constantText } from './constant-text.ts';
import { PG_FUNCTIONS, ROW_FUNCTIONS, TYPED, type Known } from './functions.ts';
import { numberOfText } from './object-names.ts';
import { join, form, words, type Sql } from './parts.ts';
import { timeTemplate } from './to-char.ts';
import { isPrivilegeFunction, writePrivilege } from './privileges.ts';
import type { WritePlace, Typed } from './scope.ts';
import { namesIn, nodeOf, nodesOf, NotRead, objectIn, locationIn, textIn, unknownName, type Node } from './tree.ts';

type Write = (node: Node, place: WritePlace) => Typed;

/** Writes the call of a function. @throws FUNCTION_NOT_FOUND for one of Postgres' catalog that is not known */
export function writeCall(of: JsonObject, place: WritePlace, write: Write): Typed {
  const names = namesIn(of['funcname']);
  const [name = '', schema] = names.toReversed();
  const args = nodesOf(of['args']);
  if (names.length > 2) throw new NotRead(names.join('.'));
  const known = Object.hasOwn(PG_FUNCTIONS, name) ? PG_FUNCTIONS[name] : undefined;
  if (known !== undefined) {
    const written = args.map((arg, i): Typed =>
      i === 0 && known.first !== undefined
        ? { sql: numberNamed(known.first, arg, place, write), type: 'oid' }
        : write(arg, place),
    );
    return {
      sql: filled(
        known,
        written.map((one) => one.sql),
        place,
      ),
      type: known.type === '' ? (written[0]?.type ?? null) : known.type,
    };
  }
  if (isPrivilegeFunction(name)) return writePrivilege(name, args, place, write);
  if (/^to_reg(?:class|type|proc|namespace|role)$/.test(name)) {
    const type = name.slice('to_'.length);
    const [value] = args.map((arg) => write(arg, place).sql);
    const text = value ?? words('NULL');
    // Digits alone are the number itself.
    const number = form`CASE WHEN regexp_full_match(${text}, '[0-9]+') THEN CAST(TRY_CAST(${text} AS UINTEGER) AS BIGINT) END`;
    return { sql: form`coalesce(${numberOfText(type, text, place)}, ${number})`, type };
  }
  if (name === 'to_char') return timeText(args, place, write);
  if (name === 'extract' && schema === 'pg_catalog') return plainCall(of, { name: 'date_part', args }, place, write);
  if (name === 'encode' && args.length === 2) return encoded(args, place, write);
  const [object, described] = args;
  if (name === 'obj_description' && object !== undefined && described !== undefined) {
    const number = place.numberOf(constantText(described) ?? '');
    if (number !== undefined) return { sql: descriptionOf(write(object, place).sql, number, place), type: 'text' };
  }
  if (schema === 'pg_catalog' && name === 'format') return formatted(args, place, write);
  if (name === 'substring' && args.length === 2) {
    const [text, pattern] = args.map((arg) => ({ arg, constant: constantText(arg) }));
    if (text !== undefined && pattern?.constant !== undefined) {
      return matched(write(text.arg, place).sql, pattern.constant);
    }
  }
  if (schema === 'information_schema' && name === '_pg_expandarray') {
    const [list = words('[]')] = args.map((arg) => write(arg, place).sql);
    const x = place.fresh();
    return {
      sql: form`unnest(list_transform(${list}, lambda ${x}, ${x}i: {'x': ${x}, 'n': CAST(${x}i AS INTEGER)}))`,
      type: null,
    };
  }
  const isOfCatalog = schema === 'pg_catalog' || schema === 'information_schema' || name.startsWith('pg_');
  if (isOfCatalog && name.startsWith('pg_') && !Object.hasOwn(TYPED, name) && name !== 'pg_typeof') {
    throw unknownName('FUNCTION_NOT_FOUND', `the function ${name} does not exist`, locationIn(of));
  }
  return plainCall(of, { name, args }, place, write);
}

/** `format('%I.%s', a, b)` -> `(quote_ident(a) || '.' || coalesce(b, ''))`; the engine's function of this name reads other templates. */
function formatted(args: readonly Node[], place: WritePlace, write: Write): Typed {
  const [first, ...values] = args;
  const template = first === undefined ? undefined : constantText(first);
  if (template === undefined) throw new NotRead('format');
  let taken = 0;
  const parts = template.split(/(%.)/).map((piece): Sql => {
    if (!piece.startsWith('%')) return words(quoteLiteral(piece));
    if (piece === '%%') return words(`'%'`);
    const value = values[taken];
    const known = { '%I': PG_FUNCTIONS['quote_ident'], '%L': PG_FUNCTIONS['quote_literal'], '%s': AS_TEXT }[piece];
    taken += 1;
    if (value === undefined || known === undefined) throw new NotRead('format');
    const sql = filled(known, [form`CAST(${write(value, place).sql} AS VARCHAR)`], place);
    return piece === '%I' ? sql : form`coalesce(${sql}, ${piece === '%L' ? `'NULL'` : `''`})`;
  });
  return { sql: form`(${join(parts, ' || ')})`, type: 'text' };
}

/** `substring(text FROM 'a=([0-9]*)')`: the first group of the pattern, all that it matches where it has none, NULL where it does not match. */
function matched(text: Sql, pattern: string): Typed {
  const group = /(?<!\\)\((?!\?)/.test(pattern) ? 1 : 0;
  const quoted = quoteLiteral(pattern);
  return {
    sql: form`(CASE WHEN regexp_matches(${text}, ${quoted}) THEN regexp_extract(${text}, ${quoted}, ${String(group)}) END)`,
    type: 'text',
  };
}

/** `obj_description(oid, 'pg_class')`: the comment on an object that a relation of a known number describes. */
function descriptionOf(object: Sql, relation: number, place: WritePlace): Sql {
  const d = place.fresh();
  return form`(SELECT ${d}.description FROM pg_catalog.pg_description AS ${d} WHERE ${d}.objoid = ${object} AND ${d}.objsubid = 0 AND ${d}.classoid = ${String(relation)})`;
}

/** `to_char(time, template)`; of a number, or by a template that is computed, it is not read. */
function timeText(args: readonly Node[], place: WritePlace, write: Write): Typed {
  const [value, template] = args;
  const known = template === undefined ? undefined : timeTemplate(constantText(template) ?? '"');
  if (value === undefined || known === undefined) throw new NotRead('to_char');
  const { sql, type } = write(value, place);
  if (type === null || !TIMES.has(type)) throw new NotRead('to_char of what is no time');
  // A time without a zone has no name of one.
  const shown = type === 'timestamptz' ? known : known.replaceAll(/%[Zz]/g, '');
  return { sql: form`strftime(${sql}, ${quoteLiteral(shown)})`, type: 'text' };
}

const TIMES: ReadonlySet<string> = new Set(['timestamptz', 'timestamp', 'date']);

/** `encode(bytes, 'hex')`: the engine's function of this name makes bytes of a text. */
function encoded([value, format]: readonly Node[], place: WritePlace, write: Write): Typed {
  const how = format === undefined ? undefined : ENCODINGS[constantText(format) ?? ''];
  if (value === undefined || how === undefined) throw new NotRead('encode');
  return { sql: filled(how, [write(value, place).sql], place), type: 'text' };
}

const ENCODINGS: Readonly<Record<string, Known>> = {
  hex: { text: 'lower(hex(CAST($1 AS BLOB)))', type: 'text' },
  base64: { text: 'to_base64(CAST($1 AS BLOB))', type: 'text' },
  escape: { text: 'CAST(CAST($1 AS BLOB) AS VARCHAR)', type: 'text' },
};

const AS_TEXT: Known = { text: '$1', type: 'text' };

/** A call of a function of ours. */
function plainCall(
  of: JsonObject,
  { name, args }: { readonly name: string; readonly args: readonly Node[] },
  place: WritePlace,
  write: Write,
): Typed {
  const isKept = ['agg_within_group', 'func_variadic'].some((one) => of[one] === true);
  if (isKept) throw new NotRead(name);
  const written = args.map((arg) => write(arg, place));
  const order = nodesOf(of['agg_order']).map(({ of: sort }) => sortBy(sort, place, write));
  const inner =
    of['agg_star'] === true
      ? words('*')
      : join(
          written.map((one) => one.sql),
          ', ',
        );
  const distinct = of['agg_distinct'] === true ? 'DISTINCT ' : '';
  const ordered = order.length === 0 ? [] : form` ORDER BY ${join(order, ', ')}`;
  const filter =
    of['agg_filter'] === undefined ? [] : form` FILTER (WHERE ${write(nodeOf(of['agg_filter']), place).sql})`;
  const over = objectIn(of, 'over');
  const window = over === undefined ? [] : windowOf(over, place, write);
  const spelled = SPELLED[name] ?? name;
  const call = form`${quoteCall(spelled)}(${distinct}${inner}${ordered})${filter}${window}`;
  const [first = null] = written.map((one) => one.type);
  return {
    sql: ROW_FUNCTIONS.has(name) && name !== 'unnest' ? form`unnest(${call})` : call,
    type: typeOf(name, first),
  };
}

/** Spellings of DuckDB for functions that mean the same. */
const SPELLED: Readonly<Record<string, string>> = {
  btrim: 'trim',
  array_agg: 'list',
  string_to_array: 'string_split',
  jsonb_build_object: 'json_object',
  json_build_object: 'json_object',
  char_length: 'length',
  position: 'strpos',
};

const quoteCall = (name: string): string => (/^[a-z_][a-z0-9_]*$/.test(name) ? name : quoteIdentifier(name));

function typeOf(name: string, first: string | null): string | null {
  if (name === 'array_agg') return first === null || first === 'unknown' ? null : `_${first}`;
  if (name === 'unnest')
    return first?.startsWith('_') === true ? first.slice(1) : (VECTOR_ELEMENTS[first ?? ''] ?? null);
  if (name === 'generate_series') return first;
  if (name === 'min' || name === 'max') return first;
  return Object.hasOwn(TYPED, name) ? (TYPED[name] ?? null) : null;
}
const VECTOR_ELEMENTS: Readonly<Record<string, string>> = { int2vector: 'int2', oidvector: 'oid' };

/** Puts arguments into the text of a function, and gives its own names to each use. */
function filled({ text: template }: Known, args: readonly Sql[], place: WritePlace): Sql {
  const names = new Map<string, string>();
  const own = template.replaceAll(/\b_[a-z]\b/g, (name) => {
    const known = names.get(name) ?? place.fresh();
    names.set(name, known);
    return known;
  });
  const parts: PostgresPart[] = [];
  for (const piece of own.split(/(\$\d)/)) {
    if (/^\$\d$/.test(piece)) for (const part of args[Number(piece[1]) - 1] ?? words('NULL')) parts.push(part);
    else if (piece !== '') parts.push({ text: piece, at: null });
  }
  return parts;
}

export function sortBy(sort: JsonObject, place: WritePlace, write: Write): Sql {
  const { sql: key } = write(nodeOf(sort['node']), place);
  const direction = { SORTBY_ASC: ' ASC', SORTBY_DESC: ' DESC' }[textIn(sort, 'sortby_dir')] ?? '';
  const nulls =
    { SORTBY_NULLS_FIRST: ' NULLS FIRST', SORTBY_NULLS_LAST: ' NULLS LAST' }[textIn(sort, 'sortby_nulls')] ?? '';
  if (textIn(sort, 'sortby_dir') === 'SORTBY_USING') throw new NotRead('USING');
  return form`${key}${direction}${nulls}`;
}

/** The frame that a window has when nothing is said of it. */
const DEFAULT_FRAME = 1058;

function windowOf(over: JsonObject, place: WritePlace, write: Write): Sql {
  const frame = over['frameOptions'];
  if (textIn(over, 'name') !== '' || textIn(over, 'refname') !== '' || (frame ?? DEFAULT_FRAME) !== DEFAULT_FRAME) {
    throw new NotRead('a window');
  }
  const partition = nodesOf(over['partitionClause']).map((one) => write(one, place).sql);
  const order = nodesOf(over['orderClause']).map(({ of }) => sortBy(of, place, write));
  const parts = [
    ...(partition.length === 0 ? [] : [form`PARTITION BY ${join(partition, ', ')}`]),
    ...(order.length === 0 ? [] : [form`ORDER BY ${join(order, ', ')}`]),
  ];
  return form` OVER (${join(parts, ' ')})`;
}
