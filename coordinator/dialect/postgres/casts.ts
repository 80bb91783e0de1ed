import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { identifierText, Tokenizer } from '#shared/sql/tokenizer.ts';
import { missingObject } from '#shared/sql/raised-message.ts';
import { quoteLiteral } from '#shared/sql/quote.ts';
import type { JsonObject } from '#shared/json.ts';
import { constantText, TEXTS } from './constant-text.ts';
import { nameOf, numbered, numberOfText } from './object-names.ts';
import { constantNumber, constantOid, textOfOid } from './oids.ts';
import { at, form, words, type Sql } from './parts.ts';
import type { WritePlace, Typed } from './scope.ts';
import { namesIn, nodesOf, objectIn, locationIn, unknownName, type Node } from './tree.ts';
import { duckDbType, isNumbered } from '../../binding/pg-types.ts';

/** A type as a statement names it, with its modifiers. */
export type NamedType = { readonly name: string; readonly modifiers: readonly number[] };

/** @throws TYPE_NOT_FOUND */
export function typeNamed(of: JsonObject): NamedType {
  const name = namesIn(of['names']).at(-1) ?? '';
  const isArray = nodesOf(of['arrayBounds']).length > 0;
  const full = isArray ? `_${name}` : name;
  if (duckDbType(full) === undefined) {
    throw unknownName('TYPE_NOT_FOUND', `the type ${name} does not exist`, locationIn(of));
  }
  const modifiers = nodesOf(of['typmods']).map((one) => Number(objectIn(one.of, 'ival')?.['ival'] ?? 0));
  return { name: full, modifiers };
}

type Casted = { readonly node: Node; readonly write: () => Typed };

export function castAs(to: NamedType | string, { node, write }: Casted, place: WritePlace): Typed {
  const { name, modifiers } = typeof to === 'string' ? { name: to, modifiers: [] } : to;
  const constant = node.kind === 'A_Const' || node.kind === 'TypeCast' ? constantText(node) : undefined;
  const number = name === 'oid' ? constantOid(node) : isNumbered(name) ? constantNumber(node) : undefined;
  if (number !== undefined) return { sql: at(locationIn(node.of), words(`CAST(${number} AS BIGINT)`)), type: name };
  if (isNumbered(name)) {
    const value = write();
    if (constant !== undefined) return { sql: at(locationIn(node.of), numberOf(name, constant, place)), type: name };
    if (isText(value.type)) return { sql: numberOfText(name, value.sql, place), type: name };
    // The value of a parameter is a number or a name.
    if (value.type === null) return { sql: numberOfAny(name, value.sql, place), type: name };
    return { sql: value.sql, type: name };
  }
  if (name.startsWith('_') && constant !== undefined) return { sql: listOf(constant, name, node), type: name };
  const value = write();
  if (value.type !== null && isNumbered(value.type) && TEXTS.has(name))
    return { sql: nameOf(value.type, value.sql, place), type: name };
  const type =
    name === 'numeric' && modifiers.length > 0 ? `DECIMAL(${modifiers.join(', ')})` : (duckDbType(name) ?? '');
  if (isVector(value.type) && TEXTS.has(name)) return { sql: vectorText(value.sql), type: name };
  return { sql: form`CAST(${value.sql} AS ${type})`, type: name };
}

const isText = (type: string | null): boolean => type !== null && (TEXTS.has(type) || type === 'unknown');

export const isVector = (type: string | null): boolean => type === 'int2vector' || type === 'oidvector';

/** `1 2` */
export const vectorText = (of: Sql): Sql => form`array_to_string(CAST(${of} AS VARCHAR[]), ' ')`;

/** `{r,p}` as a list of DuckDB. */
function listOf(constant: string, type: string, node: Node): Sql {
  const element = (text: string): string => quoteLiteral(type === '_oid' ? textOfOid(text, node) : text);
  const values = elementsOf(constant).map((text) => (text === null ? 'NULL' : element(text)));
  return form`CAST([${values.join(', ')}] AS ${duckDbType(type) ?? ''})`;
}

/** The elements of the text of a list; null = NULL. */
export function elementsOf(constant: string): readonly (string | null)[] {
  const inner = constant.trim().replace(/^\{/, '').replace(/\}$/, '');
  const items = inner === '' ? [] : [...inner.matchAll(/"((?:[^"\\]|\\.)*)"|([^,]+)/g)];
  return items.map(([, quoted, plain = '']) => {
    if (quoted !== undefined) return quoted.replaceAll(/\\(.)/g, '$1');
    return plain.trim() === 'NULL' ? null : plain.trim();
  });
}

/** The number of an object that a constant names: `pg_class`, `s."T"`, `16390`. The query fails where there is none. */
function numberOf(type: string, constant: string, place: WritePlace): Sql {
  if (constant === '-') return words('CAST(0 AS BIGINT)');
  const builtIn = type === 'regclass' ? numberOfBuiltIn(constant, place) : undefined;
  if (builtIn !== undefined) return words(`CAST(${builtIn} AS BIGINT)`);
  const found =
    type === 'regtype'
      ? numberOfText(type, words(quoteLiteral(TYPE_NAMES[foldIdentifier(constant.trim())] ?? constant)), place)
      : numberOfName(type, constant, place);
  const missing = missingObject(OBJECTS[type] ?? 'object', constant);
  return form`coalesce(${found}, CAST(error(${quoteLiteral(missing)}) AS BIGINT))`;
}

/** The number of a relation of Postgres' own, which a name without a schema means before any other: rows are picked by it. */
function numberOfBuiltIn(constant: string, place: WritePlace): number | undefined {
  const [name = '', schema = 'pg_catalog', ...others] = namesOf(constant).toReversed();
  return schema === 'pg_catalog' && others.length === 0 ? place.numberOf(name) : undefined;
}

/** Names of types that are spelled otherwise in `pg_type`. */
const TYPE_NAMES: Readonly<Record<string, string>> = {
  int: 'integer',
  decimal: 'numeric',
  float: 'double precision',
  dec: 'numeric',
};

/** How Postgres calls what a number is of. */
const OBJECTS: Readonly<Record<string, string>> = {
  regclass: 'relation',
  regtype: 'type',
  regproc: 'function',
  regprocedure: 'function',
  regnamespace: 'schema',
  regrole: 'role',
  regoper: 'operator',
  regoperator: 'operator',
  regcollation: 'collation',
  regconfig: 'text search configuration',
  regdictionary: 'text search dictionary',
};

function numberOfName(type: string, constant: string, place: WritePlace): Sql {
  const { relation, name, namespace } = numbered(type);
  const [own = '', schema] = namesOf(constant.replace(/\(.*$/s, '')).toReversed();
  const r = place.fresh();
  const n = place.fresh();
  const ofName = `${r}.${name} = ${quoteLiteral(own)}`;
  if (namespace === null) return words(`(SELECT ${r}.oid FROM pg_catalog.${relation} AS ${r} WHERE ${ofName})`);
  const ofSchema =
    schema === undefined
      ? `${n}.nspname IN (current_schema(), 'pg_catalog')`
      : `${n}.nspname = ${quoteLiteral(schema)}`;
  const order = schema === undefined ? ` ORDER BY ${n}.nspname <> 'pg_catalog', ${r}.oid` : ` ORDER BY ${r}.oid`;
  return words(
    `(SELECT ${r}.oid FROM pg_catalog.${relation} AS ${r} JOIN pg_catalog.pg_namespace AS ${n} ON ${n}.oid = ${r}.${namespace} WHERE ${ofName} AND ${ofSchema}${order} LIMIT 1)`,
  );
}

/** The number that a value is, or that of the object that it names; NULL for no object. */
function numberOfAny(type: string, value: Sql, place: WritePlace): Sql {
  const text = form`CAST(${value} AS VARCHAR)`;
  return form`coalesce(TRY_CAST(${text} AS BIGINT), ${numberOfText(type, text, place)})`;
}

/** Types whose numbers an argument of a function may be, or a name in their place. */
export type NamedObject = 'regclass' | 'regnamespace' | 'regprocedure' | 'regtype';

/** The number of the object that an argument of a function names: by its number, or by its name as a text. */
export function numberNamed(
  type: NamedObject,
  node: Node,
  place: WritePlace,
  write: (node: Node, place: WritePlace) => Typed,
): Sql {
  if (constantText(node) !== undefined) return castAs(type, { node, write: () => write(node, place) }, place).sql;
  const value = write(node, place);
  if (isText(value.type)) return numberOfText(type, value.sql, place);
  return value.type === null ? numberOfAny(type, value.sql, place) : value.sql;
}

/** The names of a text with dots: those without quotes are folded. */
function namesOf(constant: string): readonly string[] {
  const tokens = new Tokenizer(constant);
  const names: string[] = [];
  try {
    for (let token = tokens.next(); token.kind !== 'end'; token = tokens.next()) {
      if (token.kind === 'word') names.push(foldIdentifier(constant.slice(token.start, token.end)));
      else if (token.kind === 'quoted') names.push(identifierText(constant, token));
    }
  } catch {
    return [constant];
  }
  return names;
}
