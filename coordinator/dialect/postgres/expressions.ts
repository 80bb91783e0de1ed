// long file: one function for each kind of expression
import { quoteIdentifier, quoteLiteral } from '#shared/sql/quote.ts';
import type { JsonObject } from '#shared/json.ts';
import { writeCall } from './calls.ts';
import { at, join, form, words, type Sql } from './parts.ts';
import { columnNamed, type WritePlace, type Typed } from './scope.ts';
import { isObject, namesIn, nodeOf, nodesOf, NotRead, objectIn, locationIn, textIn, type Node } from './tree.ts';
import { castAs, elementsOf, typeNamed } from './casts.ts';
import { constantText } from './constant-text.ts';
import { duckDbType, isNumbered, widerType } from '../../binding/pg-types.ts';

/** Writes an expression. @throws NotRead for what is not written anew, SkeinError for names that Postgres does not have */
export function writeExpression(node: Node, place: WritePlace): Typed {
  const { kind, of } = node;
  const location = locationIn(of);
  const value = location === undefined ? undefined : place.valueAt(location);
  if (value !== undefined && (kind === 'A_Const' || kind === 'TypeCast')) return { sql: [value], type: null };
  const writer = WRITERS[kind];
  if (writer === undefined) throw new NotRead(kind);
  const written = writer(of, place);
  return { ...written, sql: at(location, written.sql) };
}

type Writer = (of: JsonObject, place: WritePlace) => Typed;

const WRITERS: Readonly<Record<string, Writer>> = {
  ColumnRef: columnRef,
  A_Const: constant,
  TypeCast: (of, place) => {
    const type = typeNamed(objectIn(of, 'typeName') ?? {});
    const arg = nodeOf(of['arg']);
    return castAs(type, { node: arg, write: () => writeExpression(arg, place) }, place);
  },
  FuncCall: (of, place) => writeCall(of, place, writeExpression),
  A_Expr: operator,
  BoolExpr: (of, place) => {
    const args = nodesOf(of['args']).map((arg) => writeExpression(arg, place).sql);
    const op = textIn(of, 'boolop');
    const [first = []] = args;
    if (op === 'NOT_EXPR') return { sql: form`(NOT ${first})`, type: 'bool' };
    return { sql: form`(${join(args, op === 'AND_EXPR' ? ' AND ' : ' OR ')})`, type: 'bool' };
  },
  NullTest: (of, place) => {
    const { sql: arg } = writeExpression(nodeOf(of['arg']), place);
    return { sql: form`(${arg} IS ${textIn(of, 'nulltesttype') === 'IS_NULL' ? '' : 'NOT '}NULL)`, type: 'bool' };
  },
  BooleanTest: (of, place) => {
    const { sql: arg } = writeExpression(nodeOf(of['arg']), place);
    const test = textIn(of, 'booltesttype').replaceAll('_', ' ').replace('UNKNOWN', 'NULL');
    return { sql: form`(CAST(${arg} AS BOOLEAN) ${test})`, type: 'bool' };
  },
  CaseExpr: caseOf,
  CoalesceExpr: (of, place) => {
    const args = nodesOf(of['args']).map((arg) => writeExpression(arg, place));
    return {
      sql: form`coalesce(${join(
        args.map((arg) => arg.sql),
        ', ',
      )})`,
      type: firstType(args),
    };
  },
  MinMaxExpr: (of, place) => {
    const args = nodesOf(of['args']).map((arg) => writeExpression(arg, place));
    const name = textIn(of, 'op') === 'IS_GREATEST' ? 'greatest' : 'least';
    return {
      sql: form`${name}(${join(
        args.map((arg) => arg.sql),
        ', ',
      )})`,
      type: firstType(args),
    };
  },
  SubLink: subLink,
  A_Indirection: indirection,
  A_ArrayExpr: (of, place) => {
    const args = nodesOf(of['elements']).map((arg) => writeExpression(arg, place));
    const type = firstType(args);
    return {
      sql: form`[${join(
        args.map((arg) => arg.sql),
        ', ',
      )}]`,
      type: type === null ? null : `_${type}`,
    };
  },
  RowExpr: (of, place) => {
    const args = nodesOf(of['args']).map((arg) => writeExpression(arg, place).sql);
    return { sql: form`(${join(args, ', ')})`, type: null };
  },
  // All that tools name are those of the database, or compare bytes, as DuckDB does.
  CollateClause: (of, place) => writeExpression(nodeOf(of['arg']), place),
  SQLValueFunction: (of) => {
    const name = textIn(of, 'op')
      .replace(/^SVFOP_/, '')
      .toLowerCase();
    if (!VALUES.has(name)) throw new NotRead(name);
    return { sql: words(name), type: name.startsWith('current_t') || name.startsWith('local') ? null : 'name' };
  },
};

const VALUES: ReadonlySet<string> = new Set([
  'current_date',
  'current_time',
  'current_timestamp',
  'localtime',
  'localtimestamp',
  'current_role',
  'current_user',
  'user',
  'session_user',
  'current_catalog',
  'current_schema',
]);

const firstType = (of: readonly Typed[]): string | null =>
  of.find(({ type }) => type !== null && type !== 'unknown')?.type ??
  of.find(({ type }) => type !== null)?.type ??
  null;

/** Columns that earlier releases of Postgres name otherwise, and their clients, too: psql 15 and 16. */
const EARLIER_NAMES: ReadonlyMap<string, string> = new Map([
  ['pg_database.daticulocale', 'datlocale'],
  ['pg_collation.colliculocale', 'colllocale'],
]);

/** Columns that every relation has, which are written otherwise. */
export const SYSTEM: ReadonlySet<string> = new Set(['tableoid', 'xmin', 'xmax']);

/** The relation of the catalog that alone stands in FROM. */
function onlyRelation({ scope: { sources } }: WritePlace): string | null {
  const [source, ...others] = sources;
  return others.length === 0 ? (source?.relation ?? null) : null;
}

const fieldsNamed = (names: readonly string[]): JsonObject[] => names.map((sval) => ({ String: { sval } }));

function columnRef(of: JsonObject, place: WritePlace): Typed {
  const parts = namesIn(of['fields']);
  const [name = '', table] = parts.toReversed();
  if (name === '*')
    return { sql: words(parts.map((part) => (part === '*' ? part : quoteIdentifier(part))).join('.')), type: null };
  const found = columnNamed(parts, place.scope);
  const relation = found?.source.relation ?? (table === undefined && SYSTEM.has(name) ? onlyRelation(place) : null);
  if (relation !== null) {
    const isColumn = found?.source.columns?.some((column) => column.name === name) === true;
    if (name === 'tableoid') return { sql: words(`CAST(${place.numberOf(relation) ?? 0} AS BIGINT)`), type: 'oid' };
    if (!isColumn && (name === 'xmin' || name === 'xmax')) return { sql: words('CAST(0 AS BIGINT)'), type: 'xid' };
  }
  const renamed = EARLIER_NAMES.get(`${relation}.${name}`);
  if (renamed !== undefined) return columnRef({ ...of, fields: fieldsNamed([...parts.slice(0, -1), renamed]) }, place);
  // A query that is written around it may have a column of the same name.
  const isKnown = found?.source.columns != null && found.source.alias !== '';
  // FROM gives a relation of the catalog its own name as its alias.
  const isOfCatalog = found != null && relation !== null && parts.length > 2;
  const full = (parts.length === 1 && isKnown) || isOfCatalog ? [found?.source.alias ?? '', name] : parts;
  return { sql: words(full.map(quoteIdentifier).join('.')), type: found?.type ?? null };
}

function constant(of: JsonObject): Typed {
  if (of['isnull'] === true) return { sql: words('NULL'), type: 'unknown' };
  const string = objectIn(of, 'sval');
  if (string !== undefined) return { sql: words(quoteLiteral(textIn(string, 'sval'))), type: 'unknown' };
  const integer = objectIn(of, 'ival');
  if (integer !== undefined) return { sql: words(String(Number(integer['ival'] ?? 0))), type: 'int4' };
  const float = objectIn(of, 'fval');
  if (float !== undefined) {
    const value = textIn(float, 'fval');
    return { sql: words(value), type: /^\d+$/.test(value) ? 'int8' : 'numeric' };
  }
  const boolean = objectIn(of, 'boolval');
  if (boolean !== undefined) return { sql: words(boolean['boolval'] === true ? 'true' : 'false'), type: 'bool' };
  throw new NotRead('a constant');
}

const COMPARISONS: ReadonlySet<string> = new Set(['=', '<>', '!=', '<', '>', '<=', '>=']);
/** Regular expressions; those of DuckDB take no texts that are no expressions. */
const MATCHES: Readonly<Record<string, readonly [not: string, options: string]>> = {
  '~': ['', ''],
  '~*': ['', `, 'i'`],
  '!~': ['NOT ', ''],
  '!~*': ['NOT ', `, 'i'`],
};
const LIKES: Readonly<Record<string, string>> = {
  '~~': 'LIKE',
  '!~~': 'NOT LIKE',
  '~~*': 'ILIKE',
  '!~~*': 'NOT ILIKE',
};

function operator(of: JsonObject, place: WritePlace): Typed {
  const kind = textIn(of, 'kind');
  const name = namesIn(of['name']).at(-1) ?? '';
  const left = of['lexpr'] === undefined ? null : writeExpression(nodeOf(of['lexpr']), place);
  const right = (): Typed => writeExpression(nodeOf(of['rexpr']), place);
  const list = (): readonly Sql[] => {
    const inner = nodeOf(of['rexpr']);
    const items = inner.kind === 'List' ? nodesOf(inner.of['items']) : [inner];
    return items.map((item) => compared(item, left?.type ?? null, place));
  };
  const own = left?.sql ?? [];
  switch (kind) {
    case 'AEXPR_OP':
      return binary(name, left, { right: right(), node: nodeOf(of['rexpr']) }, place);
    case 'AEXPR_LIKE':
    case 'AEXPR_ILIKE': {
      // A pattern without signs is a name, by which rows are picked.
      const constant = name === '~~' ? constantText(nodeOf(of['rexpr'])) : undefined;
      if (constant !== undefined && constant !== '' && !/[%_\\]/.test(constant)) {
        return { sql: form`(${own} = ${right().sql})`, type: 'bool' };
      }
      const pattern = patternOf(nodeOf(of['rexpr']), place);
      return { sql: form`(${own} ${LIKES[name] ?? 'LIKE'} ${pattern})`, type: 'bool' };
    }
    case 'AEXPR_IN':
      return { sql: form`(${own} ${name === '<>' ? 'NOT ' : ''}IN (${join(list(), ', ')}))`, type: 'bool' };
    case 'AEXPR_OP_ANY':
    case 'AEXPR_OP_ALL':
      return quantified(name, kind === 'AEXPR_OP_ANY' ? 'ANY' : 'ALL', { left: left ?? NOTHING, of }, place);
    case 'AEXPR_DISTINCT':
      return { sql: form`(${own} IS DISTINCT FROM ${right().sql})`, type: 'bool' };
    case 'AEXPR_NOT_DISTINCT':
      return { sql: form`(${own} IS NOT DISTINCT FROM ${right().sql})`, type: 'bool' };
    case 'AEXPR_NULLIF':
      return { sql: form`nullif(${own}, ${right().sql})`, type: left?.type ?? null };
    case 'AEXPR_BETWEEN':
    case 'AEXPR_NOT_BETWEEN': {
      const [low = [], high = []] = list();
      return { sql: form`(${own} ${kind === 'AEXPR_BETWEEN' ? '' : 'NOT '}BETWEEN ${low} AND ${high})`, type: 'bool' };
    }
    default:
      throw new NotRead(kind);
  }
}

/** Postgres' parser makes `a LIKE p ESCAPE e` a call. */
function patternOf(node: Node, place: WritePlace): Sql {
  const args = node.kind === 'FuncCall' ? nodesOf(node.of['args']) : [];
  const [pattern, escape] = args;
  const isEscaped = namesIn(node.of['funcname']).at(-1) === 'like_escape' && args.length === 2;
  if (!isEscaped || pattern === undefined || escape === undefined)
    return withEscape(node, writeExpression(node, place));
  return form`${writeExpression(pattern, place).sql} ESCAPE ${writeExpression(escape, place).sql}`;
}

/** A pattern with Postgres' own escape, which DuckDB has not. */
function withEscape(node: Node, { sql }: Pick<Typed, 'sql'>): Sql {
  const constant = constantText(node);
  return constant === undefined || constant.includes('\\') ? form`${sql} ESCAPE '\\'` : sql;
}

function binary(
  name: string,
  left: Typed | null,
  { right, node }: { readonly right: Typed; readonly node: Node },
  place: WritePlace,
): Typed {
  if (left === null) return { sql: form`(${name} ${right.sql})`, type: right.type };
  const match = MATCHES[name];
  if (match !== undefined) {
    const value = left.type === 'unknown' || left.type === 'text' ? left.sql : form`CAST(${left.sql} AS VARCHAR)`;
    return { sql: form`(${match[0]}regexp_matches(${value}, ${right.sql}${match[1]}))`, type: 'bool' };
  }
  if (LIKES[name] !== undefined) {
    return { sql: form`(${left.sql} ${LIKES[name] ?? ''} ${withEscape(node, right)})`, type: 'bool' };
  }
  if (COMPARISONS.has(name)) {
    return { sql: form`(${left.sql} ${name} ${compared(node, left.type, place)})`, type: 'bool' };
  }
  if (name === '||') {
    const isList = [left, right].some(({ type }) => type?.startsWith('_') === true);
    if (isList) return { sql: form`list_concat(${left.sql}, ${right.sql})`, type: left.type ?? right.type };
    return { sql: form`(${left.sql} || ${right.sql})`, type: 'text' };
  }
  const isWhole = [left, right].every(({ type }) => type !== null && /^int[248]$/.test(type));
  if (name === '/' && isWhole)
    return { sql: form`(${left.sql} // ${right.sql})`, type: widerType(left.type, right.type) };
  if (name === '@>' || name === '<@' || name === '&&' || PLAIN.has(name)) {
    const isArithmetic = PLAIN.has(name);
    return {
      sql: form`(${left.sql} ${name} ${right.sql})`,
      type: isArithmetic ? widerType(left.type, right.type) : 'bool',
    };
  }
  throw new NotRead(`the operator ${name}`);
}

const PLAIN: ReadonlySet<string> = new Set(['+', '-', '*', '/', '%', '&', '|', '<<', '>>', '^']);

/** The other side of a comparison: a text of it becomes the type of the first. */
function compared(node: Node, type: string | null, place: WritePlace): Sql {
  const written = writeExpression(node, place);
  if (type === null || constantText(node) === undefined) return written.sql;
  return type.startsWith('reg') || type.startsWith('_') || type === 'oid'
    ? castAs(type, { node, write: () => written }, place).sql
    : written.sql;
}

/** `= ANY('{r,p}')`, `= ANY(array)`, `= ANY(SELECT ...)` */
function quantified(
  name: string,
  word: 'ANY' | 'ALL',
  { left: { sql: left, type }, of }: { readonly left: Typed; readonly of: JsonObject },
  place: WritePlace,
): Typed {
  const node = nodeOf(of['rexpr']);
  const constantList = constantText(node);
  // A list of numbers of objects picks rows of the catalog, and NULL in another one leaves the answer open.
  const isAmong = type === null || (!isNumbered(type) && elementsOf(constantList ?? '').includes(null));
  if (constantList !== undefined && isAmong && (name === '=' || name === '<>' || name === '!=')) {
    const isIn = name === '=' && word === 'ANY';
    if (isIn || (name !== '=' && word === 'ALL')) return amongTexts(left, constantList, isIn);
  }
  const right =
    constantList === undefined
      ? writeExpression(node, place).sql
      : castAs(listTypeOf(type), { node, write: () => writeExpression(node, place) }, place).sql;
  if (MATCHES[name] !== undefined || LIKES[name] !== undefined)
    return quantifiedMatch({ name, word }, left, right, place);
  if (!COMPARISONS.has(name)) throw new NotRead(`${name} ${word}`);
  if (name === '=' && word === 'ANY') return { sql: form`list_contains(${right}, ${left})`, type: 'bool' };
  if ((name === '<>' || name === '!=') && word === 'ALL') {
    return { sql: form`(NOT list_contains(${right}, ${left}))`, type: 'bool' };
  }
  return { sql: form`(${left} ${name} ${word}(${right}))`, type: 'bool' };
}

const NOTHING: Typed = { sql: [], type: null };

/** `a = ANY('{1,2}')` of a value whose type only the engine knows: each text becomes one of that type, as in Postgres. */
function amongTexts(value: Sql, list: string, isIn: boolean): Typed {
  const texts = elementsOf(list).map((text) => (text === null ? 'NULL' : quoteLiteral(text)));
  if (texts.length === 0) return { sql: words(isIn ? 'false' : 'true'), type: 'bool' };
  return { sql: form`(${value} ${isIn ? 'IN' : 'NOT IN'} (${texts.join(', ')}))`, type: 'bool' };
}

/** The type of a constant list whose elements a value is compared with: `'{20,23}'` beside an oid. */
function listTypeOf(type: string | null): string {
  if (type === null || type === 'unknown') return '_text';
  const list = isNumbered(type) ? '_oid' : `_${type}`;
  return duckDbType(list) === undefined ? '_text' : list;
}

/** `a LIKE ANY (array['x%', 'y%'])`: one that is true or false decides, NULL among the others leaves it open. */
function quantifiedMatch(
  { name, word }: { readonly name: string; readonly word: 'ANY' | 'ALL' },
  left: Sql,
  patterns: Sql,
  place: WritePlace,
): Typed {
  const p = place.fresh();
  const [not, options] = MATCHES[name] ?? ['', ''];
  const one =
    MATCHES[name] === undefined
      ? form`(${left} ${LIKES[name] ?? 'LIKE'} ${p} ESCAPE '\\')`
      : form`(${not}regexp_matches(CAST(${left} AS VARCHAR), ${p}${options}))`;
  const decides = word === 'ANY' ? 'true' : 'false';
  const matches = form`list_transform(${patterns}, lambda ${p}: ${one})`;
  // No subquery: within one, a function of a list knows no column from outside.
  const sql = form`(CASE WHEN list_contains(${matches}, ${decides}) THEN ${decides} WHEN len(${matches}) > list_count(${matches}) THEN NULL WHEN ${matches} IS NOT NULL THEN NOT ${decides} END)`;
  return { sql, type: 'bool' };
}

function caseOf(of: JsonObject, place: WritePlace): Typed {
  const arg = of['arg'] === undefined ? null : writeExpression(nodeOf(of['arg']), place);
  const whens = nodesOf(of['args']).map(({ of: when }) => ({
    condition:
      arg === null ? writeExpression(nodeOf(when['expr']), place).sql : compared(nodeOf(when['expr']), arg.type, place),
    result: writeExpression(nodeOf(when['result']), place),
  }));
  const otherwise = of['defresult'] === undefined ? null : writeExpression(nodeOf(of['defresult']), place);
  const branches = whens.map(({ condition, result }) => form`WHEN ${condition} THEN ${result.sql}`);
  const results = [...whens.map(({ result }) => result), ...(otherwise === null ? [] : [otherwise])];
  const type = firstType(results);
  const last = otherwise === null ? form`` : form` ELSE ${otherwise.sql}`;
  return {
    sql: form`(CASE ${arg === null ? [] : form`${arg.sql} `}${join(branches, ' ')}${last} END)`,
    type: type === 'unknown' ? 'text' : type,
  };
}

function subLink(of: JsonObject, place: WritePlace): Typed {
  const { sql: query, columns } = place.query(of['subselect'], place.scope);
  const type = columns?.[0]?.type ?? null;
  const shown = type === 'unknown' ? 'text' : type;
  switch (textIn(of, 'subLinkType')) {
    case 'EXISTS_SUBLINK':
      return { sql: form`EXISTS (${query})`, type: 'bool' };
    case 'EXPR_SUBLINK':
      return { sql: form`(${query})`, type: shown };
    case 'ARRAY_SUBLINK':
      return { sql: form`ARRAY(${query})`, type: shown === null ? null : `_${shown}` };
    case 'ANY_SUBLINK':
    case 'ALL_SUBLINK': {
      const { sql: test } = writeExpression(nodeOf(of['testexpr']), place);
      const name = namesIn(of['operName']).at(-1);
      if (name === undefined) return { sql: form`(${test} IN (${query}))`, type: 'bool' };
      if (!COMPARISONS.has(name)) throw new NotRead(name);
      const word = textIn(of, 'subLinkType') === 'ANY_SUBLINK' ? 'ANY' : 'ALL';
      return { sql: form`(${test} ${name} ${word}(${query}))`, type: 'bool' };
    }
    default:
      throw new NotRead('a subquery');
  }
}

/** Vectors count from 0, arrays from 1. */
const VECTORS: ReadonlySet<string> = new Set(['int2vector', 'oidvector']);

function indirection(of: JsonObject, place: WritePlace): Typed {
  let value: Typed = writeExpression(nodeOf(of['arg']), place);
  for (const { kind, of: step } of nodesOf(of['indirection'])) {
    if (kind === 'String') {
      value = { sql: form`(${value.sql}).${quoteIdentifier(textIn(step, 'sval'))}`, type: null };
    } else if (kind === 'A_Indices') {
      const shift = value.type !== null && VECTORS.has(value.type) ? ' + 1' : '';
      const index = (name: string): Sql =>
        isObject(step[name]) ? form`${writeExpression(nodeOf(step[name]), place).sql}${shift}` : [];
      const isSlice = step['is_slice'] === true;
      const bounds = isSlice ? form`${index('lidx')}:${index('uidx')}` : index('uidx');
      value = { sql: form`(${value.sql})[${bounds}]`, type: isSlice ? value.type : elementOf(value.type) };
    } else throw new NotRead(kind);
  }
  return value;
}

export function elementOf(type: string | null): string | null {
  if (type === 'int2vector') return 'int2';
  if (type === 'oidvector') return 'oid';
  return type?.startsWith('_') === true ? type.slice(1) : null;
}
