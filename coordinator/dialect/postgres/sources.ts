import { SkeinError } from '#shared/error.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import type { JsonObject } from '#shared/json.ts';
import { elementOf, writeExpression } from './expressions.ts';
import { PG_FUNCTIONS, ROW_FUNCTIONS, TYPED } from './functions.ts';
import { duckDbType } from '../../binding/pg-types.ts';
import { at, join, form, words, type Sql } from './parts.ts';
import { commonTable, openScope, type Column, type FromItem, type Typed, type WritePlace } from './scope.ts';
import { namesIn, nodeOf, nodesOf, NotRead, objectIn, locationIn, textIn, unknownName, type Node } from './tree.ts';

/** Writes something of FROM, and adds its names to the scope. */
export function writeSource({ kind, of }: Node, place: WritePlace): Sql {
  const location = locationIn(of);
  switch (kind) {
    case 'RangeVar':
      return at(location, rangeVar(of, place));
    case 'RangeSubselect':
      return rangeSubselect(of, place);
    case 'RangeFunction':
      return rangeFunction(of, place);
    case 'JoinExpr':
      return joinOf(of, place);
    default:
      throw new NotRead(kind);
  }
}

type Alias = { readonly name: string; readonly columns: readonly string[] };

function aliasOf(of: JsonObject): Alias | undefined {
  const alias = objectIn(of, 'alias');
  return alias === undefined ? undefined : { name: textIn(alias, 'aliasname'), columns: namesIn(alias['colnames']) };
}

function aliasSql(alias: Alias | undefined): string {
  if (alias === undefined) return '';
  const columns = alias.columns.length === 0 ? '' : `(${alias.columns.map(quoteIdentifier).join(', ')})`;
  return ` AS ${quoteIdentifier(alias.name)}${columns}`;
}

const add = (place: WritePlace, source: FromItem, columns: readonly string[] = []): void =>
  void place.scope.sources.push({
    ...source,
    columns: source.columns?.map((column, i) => ({ ...column, name: columns[i] ?? column.name })) ?? null,
  });

function rangeVar(of: JsonObject, place: WritePlace): Sql {
  const [catalog = '', schema = '', own = ''] = ['catalogname', 'schemaname', 'relname'].map((one) => textIn(of, one));
  const alias = aliasOf(of);
  const common = schema === '' ? commonTable(own, place.scope) : undefined;
  const given = alias?.name ?? own;
  if (common !== undefined) {
    add(place, { alias: given, columns: common, relation: null, schema: null }, alias?.columns);
    return words(`${quoteIdentifier(own)}${aliasSql(alias)}`);
  }
  const inSchema = schema === '' ? 'pg_catalog' : schema;
  const named = alias === undefined ? schema : null;
  const columns = place.relations(inSchema, own);
  if (columns === undefined && schema === 'pg_catalog') {
    throw unknownName('TABLE_NOT_FOUND', `the relation ${own} does not exist`, locationIn(of));
  }
  if (columns !== undefined && (schema !== '' || own.startsWith('pg_'))) {
    if (catalog !== '' && foldIdentifier(catalog) !== foldIdentifier(place.catalog)) {
      const message = `relations of another catalog are not served: ${[catalog, schema, own].join('.')}`;
      const position = locationIn(of);
      throw new SkeinError('NOT_SUPPORTED', message, position === undefined ? {} : { position });
    }
    const source = { alias: given, columns, relation: own, schema: alias === undefined ? inSchema : null };
    add(place, source, alias?.columns);
    return words(
      `${quoteIdentifier(inSchema)}.${quoteIdentifier(own)}${aliasSql(alias ?? { name: own, columns: [] })}`,
    );
  }
  add(place, { alias: given, columns: null, relation: null, schema: named });
  const parts = [catalog, schema, own].filter((part) => part !== '');
  return words(`${parts.map(quoteIdentifier).join('.')}${aliasSql(alias)}`);
}

function rangeSubselect(of: JsonObject, place: WritePlace): Sql {
  const isLateral = of['lateral'] === true;
  const { sql: query, columns } = place.query(of['subquery'], isLateral ? place.scope : outside(place));
  const alias = aliasOf(of);
  add(place, { alias: alias?.name ?? '', columns, relation: null, schema: null }, alias?.columns);
  return form`${isLateral ? 'LATERAL ' : ''}(${query})${aliasSql(alias)}`;
}

/** The names that a subquery in FROM sees. */
const outside = ({ scope }: WritePlace): WritePlace['scope'] => ({
  sources: [],
  isMerged: false,
  parent: scope.parent,
  common: scope.common,
});

/** A function in FROM: `unnest(a) WITH ORDINALITY AS u(x, n)`. */
function rangeFunction(of: JsonObject, place: WritePlace): Sql {
  const [first] = nodesOf(of['functions']);
  const [call] = nodesOf(first?.of['items']);
  if (call?.kind !== 'FuncCall' || of['is_rowsfrom'] === true || of['coldeflist'] !== undefined)
    throw new NotRead('a function in FROM');
  const [name = '', schema] = namesIn(call.of['funcname']).toReversed();
  const alias = aliasOf(of);
  const rows = Object.hasOwn(RELATION_OF, name) ? (RELATION_OF[name] ?? name) : name;
  const relation = place.relations('pg_catalog', rows);
  if (relation !== undefined && (nodesOf(call.of['args']).length === 0 || name === 'ts_token_type')) {
    add(place, { alias: alias?.name ?? name, columns: relation, relation: null, schema: null }, alias?.columns);
    return words(`pg_catalog.${quoteIdentifier(rows)}${aliasSql(alias ?? { name, columns: [] })}`);
  }
  const none = Object.hasOwn(WITHOUT_ROWS, name) ? WITHOUT_ROWS[name] : undefined;
  if (none !== undefined) {
    const known = [...none, ...(of['ordinality'] === true ? ([['ordinality', 'int8']] as const) : [])];
    const columns = known.map(([column, type]) => ({ name: column, type }));
    add(place, { alias: alias?.name ?? name, columns, relation: null, schema: null }, alias?.columns);
    const nulls = known.map(
      ([column, type]) => `CAST(NULL AS ${duckDbType(type) ?? 'VARCHAR'}) AS ${quoteIdentifier(column)}`,
    );
    return words(`(SELECT ${nulls.join(', ')} WHERE false)${aliasSql(alias ?? { name, columns: [] })}`);
  }
  const args = nodesOf(call.of['args']).map((arg) => writeExpression(arg, place));
  const isOrdinal = of['ordinality'] === true;
  const lists = listsOf(name, args);
  const given = alias?.name ?? name;
  const values = lists?.map((list, i) => ({ name: alias?.columns[i] ?? given, ...list })) ?? [];
  const ordinal = isOrdinal ? [{ name: alias?.columns[values.length] ?? 'ordinality', type: 'int8' }] : [];
  const columns: readonly Column[] = [...values, ...ordinal].map(({ name: column, type }) => ({ name: column, type }));
  if (lists === undefined && !isOrdinal && isValue(name)) {
    const value = writeExpression(call, place);
    const column = alias?.columns[0] ?? given;
    add(place, { alias: given, columns: [{ name: column, type: value.type }], relation: null, schema: null });
    return form`LATERAL (SELECT ${value.sql} AS ${quoteIdentifier(column)}) AS ${quoteIdentifier(given)}`;
  }
  if (lists === undefined) {
    if (schema === 'pg_catalog' || name.startsWith('pg_')) {
      throw unknownName('FUNCTION_NOT_FOUND', `the function ${name} does not exist`, locationIn(call.of));
    }
    throw new NotRead(name);
  }
  add(place, { alias: given, columns, relation: null, schema: null });
  const unnested = values.map(({ name: column, sql }) => form`unnest(${sql}) AS ${quoteIdentifier(column)}`);
  const length = join(
    lists.map(({ sql }) => form`len(${sql})`),
    ', ',
  );
  const numbers = ordinal.map((one) => form`unnest(range(1, greatest(${length}) + 1)) AS ${quoteIdentifier(one.name)}`);
  return form`LATERAL (SELECT ${join([...unnested, ...numbers], ', ')}) AS ${quoteIdentifier(given)}`;
}

/** Functions whose rows are those of a relation with another name. */
const RELATION_OF: Readonly<Record<string, string>> = { pg_show_all_settings: 'pg_settings' };

/** Whether a function gives one value: in FROM that is one row, with a column of the function's name. */
const isValue = (name: string): boolean =>
  !ROW_FUNCTIONS.has(name) && (Object.hasOwn(TYPED, name) || Object.hasOwn(PG_FUNCTIONS, name));

/** Functions that have no rows here, with their columns: no table is a partition or published, and nothing has a list of rights or options. */
const WITHOUT_ROWS: Readonly<Record<string, readonly (readonly [name: string, type: string])[]>> = {
  pg_partition_ancestors: [['relid', 'regclass']],
  pg_partition_tree: [
    ['relid', 'regclass'],
    ['parentrelid', 'regclass'],
    ['isleaf', 'bool'],
    ['level', 'int4'],
  ],
  pg_get_publication_tables: [
    ['pubid', 'oid'],
    ['relid', 'oid'],
    ['attrs', 'int2vector'],
    ['qual', 'text'],
  ],
  aclexplode: [
    ['grantor', 'oid'],
    ['grantee', 'oid'],
    ['privilege_type', 'text'],
    ['is_grantable', 'bool'],
  ],
  pg_options_to_table: [
    ['option_name', 'text'],
    ['option_value', 'text'],
  ],
  pg_listening_channels: [['pg_listening_channels', 'text']],
  pg_tablespace_databases: [['pg_tablespace_databases', 'oid']],
  pg_sequence_parameters: [
    ['start_value', 'int8'],
    ['minimum_value', 'int8'],
    ['maximum_value', 'int8'],
    ['increment', 'int8'],
    ['cycle_option', 'bool'],
    ['cache_size', 'int8'],
    ['data_type', 'oid'],
  ],
};

type List = { readonly sql: Sql; readonly type: string | null };

/** The lists that a function gives, and the types of their elements: one, but of `unnest` as many as it takes. */
function listsOf(name: string, args: readonly Typed[]): readonly List[] | undefined {
  if (name === 'unnest' && args.length > 1) return args.map(({ sql, type }) => ({ sql, type: elementOf(type) }));
  const [first] = args;
  const sql = listOf(
    name,
    args.map((arg) => arg.sql),
  );
  const type = first?.type ?? null;
  // Those of the engine are BIGINT.
  const isSmall = name === 'generate_series' && args.every((arg) => arg.type === 'int4');
  if (sql !== undefined && isSmall) return [{ sql: form`CAST(${sql} AS INTEGER[])`, type }];
  return sql === undefined ? undefined : [{ sql, type: name === 'unnest' ? elementOf(type) : type }];
}

function listOf(name: string, args: readonly Sql[]): Sql | undefined {
  const [first = [], ...more] = args;
  if (name === 'unnest' && more.length === 0) return first;
  if (name === 'generate_series') return form`generate_series(${join(args, ', ')})`;
  if (name === 'generate_subscripts') return form`range(1, len(${first}) + 1)`;
  if (name === 'string_to_table') return form`string_split(${join(args, ', ')})`;
  return undefined;
}

const JOINS: Readonly<Record<string, string>> = {
  JOIN_INNER: 'JOIN',
  JOIN_LEFT: 'LEFT JOIN',
  JOIN_RIGHT: 'RIGHT JOIN',
  JOIN_FULL: 'FULL JOIN',
};

function joinOf(of: JsonObject, place: WritePlace): Sql {
  const word = JOINS[textIn(of, 'jointype')];
  if (word === undefined) throw new NotRead('a join');
  if (of['alias'] !== undefined) return aliasedJoin(of, place);
  const left = writeSource(nodeOf(of['larg']), place);
  const right = writeSource(nodeOf(of['rarg']), place);
  const using = namesIn(of['usingClause']);
  place.scope.isMerged ||= of['isNatural'] === true || using.length > 0;
  if (of['isNatural'] === true) return form`(${left} NATURAL ${word} ${right})`;
  if (using.length > 0) return form`(${left} ${word} ${right} USING (${using.map(quoteIdentifier).join(', ')}))`;
  if (of['quals'] === undefined) return form`(${left} CROSS JOIN ${right})`;
  const { sql: condition } = writeExpression(nodeOf(of['quals']), place);
  return form`(${left} ${word} ${right} ON ${condition})`;
}

/** `(a JOIN b ON c) AS j`: a query of all columns, because the engine gives a join no name. Names within it mean nothing outside. */
function aliasedJoin(of: JsonObject, place: WritePlace): Sql {
  const { alias: _, ...join } = of;
  const alias = aliasOf(of);
  const scope = openScope(outside(place));
  const source = joinOf(join, { ...place, scope });
  const { sources } = scope;
  if (
    alias === undefined ||
    scope.isMerged ||
    !sources.every(({ alias: name, columns }) => name !== '' && columns !== null)
  ) {
    throw new NotRead('a join');
  }
  const columns = sources.flatMap(({ alias: name, columns: its }) =>
    (its ?? []).map((column) => ({ of: name, column })),
  );
  const list = columns.map(({ of: name, column }) => `${quoteIdentifier(name)}.${quoteIdentifier(column.name)}`);
  const known = columns.map(({ column }) => column);
  add(place, { alias: alias.name, columns: known, relation: null, schema: null }, alias.columns);
  return form`(SELECT ${list.join(', ')} FROM ${source})${aliasSql(alias)}`;
}
