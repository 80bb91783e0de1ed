// long file: one class, one walk over the tree
import { SkeinError, type ErrorCode } from '#shared/error.ts';
import { int64, type Json, type JsonObject } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import { didYouMean, nearestName } from '#shared/nearest-name.ts';
import { ARGUMENTS_MAX, type BoundedFamily } from '#shared/sql/bounded-functions.ts';
import { checkIdentifier } from '#shared/sql/check-identifier.ts';
import { namedColumns } from './named-columns.ts';
import { outputQueries } from './output-queries.ts';
import { closedStar, isUnlisted, markAddresses, type OpenStar } from './open-star.ts';
import { foldIdentifier, foldKeyword } from '#shared/sql/fold-identifier.ts';
import { boundOf, hasTooManyArguments } from './bounded-calls.ts';
import { repeatedTables } from './repeated-subqueries.ts';
import { spellingInstead } from './unsound-calls.ts';
import { CONTEXT_FUNCTIONS, isFunctionAllowed, PLACE_FUNCTIONS, TABLE_FUNCTIONS } from '../binding/function-policy.ts';
import {
  addSource,
  addTable,
  hasOthers,
  isAmbiguous,
  isCommonTable,
  isShared,
  newScope,
  qualifiedName,
  type NamedTable,
  type OpenTable,
  type Scope,
  type Source,
} from './name-scope.ts';
import type {
  PendingTravel,
  QualifiedColumn,
  TimeTravel,
  NameDefaults,
  FoundReferences,
} from '../binding/query-references.ts';
import { textOf } from '../plan/json-node.ts';
import { wantedConstants } from './view-filters.ts';
import { EXPRESSION_CLASSES, OTHER_NODES, QUERY_NODES, TABLE_NODES } from './syntax-nodes.ts';

/**
 * Walks the whole syntax tree of `json_serialize_sql` with the scopes of its CTEs; a node of a kind that it does not know is refused.
 * @throws SYNTAX_ERROR, NOT_SUPPORTED for statements, table functions and functions that are not served, INVALID_REQUEST for
 * parameters, NAME_TOO_LONG; positions are byte offsets.
 */
export function findReferences(tree: Json, defaults: NameDefaults): FoundReferences {
  const statements = (tree as JsonObject)['statements'] as readonly JsonObject[] | undefined;
  const statement = statements?.[0];
  if (statement === undefined) throw new SkeinError('SYNTAX_ERROR', 'the query is empty', { position: 0 });
  if (statements?.length !== 1) throw new SkeinError('SYNTAX_ERROR', 'only one statement at a time');
  const finder = new ReferenceFinder(defaults);
  finder.query(object(statement['node']), newScope(null));
  const found = finder.found();
  const qualifiers = new Set(found.tables.map(({ qualifier }) => foldIdentifier(qualifier)));
  const wanted = wantedConstants(statement);
  const tables =
    wanted.size === 0 ? found.tables : found.tables.map((table) => ({ ...table, wanted: wanted.get(table.location) }));
  const node = object(statement['node']);
  const places = new Map(tables.map(({ location }, i) => [location, i]));
  const same = repeatedTables(node, places);
  return {
    ...found,
    tables: same.size === 0 ? tables : tables.map((table, i) => ({ ...table, sameAs: same.get(i) })),
    named: namedColumns(statement, qualifiers),
    outputs: outputQueries(node, places),
  };
}

/** A column reference; `table` is the one whose qualified name it begins with. */
type OpenColumn = {
  readonly location: number;
  readonly parts: readonly string[];
  readonly scope: Scope;
  readonly table: { readonly named: NamedTable; readonly scope: Scope } | null;
};

class ReferenceFinder {
  readonly #defaults: NameDefaults;
  readonly #tables: OpenTable[] = [];
  readonly #columns: OpenColumn[] = [];
  /** Functions of the context that it calls. */
  readonly #asked = new Set<string>();
  /** Location of the latest node that has one. */
  #location: number | undefined;
  readonly #bounds = new Set<BoundedFamily>();
  /** References to columns of which one part is the name of an address column. */
  readonly #addressed: { readonly names: readonly string[]; readonly scope: Scope }[] = [];
  readonly #stars: OpenStar[] = [];

  constructor(defaults: NameDefaults) {
    this.#defaults = defaults;
  }

  found(): FoundReferences {
    const columns = this.#columns.flatMap((column) => this.#qualifiedColumn(column) ?? []);
    for (const { names, scope } of this.#addressed) markAddresses(names, scope);
    const open = this.#tables.toSorted((a, b) => a.location - b.location);
    const tables = open.map((table) => {
      const { location, parts, at, addresses } = table;
      const alias = this.#aliasOf(table);
      return { location, parts, alias, at, qualifier: alias ?? table.givenAlias, addresses: [...addresses] };
    });
    const stars = this.#stars.flatMap((star) => closedStar(star, open));
    const asked = [...this.#asked];
    const context = { contextual: asked.length > 0, placeAlone: asked.every((name) => PLACE_FUNCTIONS.has(name)) };
    return { tables, columns, stars, named: null, ...context, bounds: [...this.#bounds].sort(), outputs: [] };
  }

  /** @throws NOT_SUPPORTED, AMBIGUOUS_COLUMN: the aliases that tables get must not give a name another meaning. */
  #qualifiedColumn({ location, parts, scope, table: found }: OpenColumn): QualifiedColumn | null {
    if (found === null) {
      if (isAmbiguous(parts, scope)) {
        throw refusal('AMBIGUOUS_COLUMN', `several tables are called ${clip(parts[0] ?? '')}`, location);
      }
      return null;
    }
    const { table, isAlone } = found.named;
    const alias = this.#aliasOf(table) ?? '';
    const name = clip(parts.join('.'));
    if (!isAlone) throw refusal('AMBIGUOUS_COLUMN', `several tables are called ${name}`, location);
    if (hasOthers(table.source)) {
      throw notServed(`${name} cannot be read where something else is called ${clip(alias)}`, location);
    }
    for (let at: Scope | null = scope; at !== null && at !== found.scope; at = at.parent) {
      if (at.sources.has(foldIdentifier(alias))) {
        throw notServed(`${name} cannot be read where a nearer table is called ${clip(alias)}`, location);
      }
    }
    return { location, parts, alias };
  }

  /** Returns the alias that a table gets. Two tables of one name get their whole names as aliases, so that the name alone means neither. */
  #aliasOf({ source, parts }: OpenTable): string | null {
    if (source === null) return null;
    return isShared(source) ? this.#wholeName(parts).join('.') : must(parts.at(-1), 'a name');
  }

  #wholeName(parts: readonly string[]): readonly string[] {
    const { catalog, schema } = this.#defaults;
    return [catalog, schema, ''].map((part, i) => parts[i - 3 + parts.length] ?? part);
  }

  query(node: JsonObject, parent: Scope): void {
    const scope: Scope = newScope(parent);
    this.#commonTables(node, scope);
    switch (textOf(node['type'])) {
      case 'SELECT_NODE':
        if (isObject(node['from_table'])) this.#table(node['from_table'], scope);
        this.#rest(node, scope, 'cte_map', 'from_table');
        return;
      case 'SET_OPERATION_NODE':
        this.#rest(node, scope, 'cte_map');
        return;
      case 'RECURSIVE_CTE_NODE':
        this.query(object(node['left']), scope);
        scope.ctes.add(foldIdentifier(textOf(node['cte_name'])));
        this.query(object(node['right']), scope);
        this.#rest(node, scope, 'cte_map', 'left', 'right');
        return;
      default:
        throw notServed(`${textOf(node['type'])} is not served in a query`, undefined);
    }
  }

  /** Walks the CTEs in order: each sees those before it. A recursive CTE is a node of its own, which adds its name. */
  #commonTables(node: JsonObject, scope: Scope): void {
    const map = (node['cte_map'] as JsonObject | undefined)?.['map'];
    for (const entry of (map ?? []) as readonly JsonObject[]) {
      const value = object(entry['value']);
      this.query(object(object(value['query'])['node']), scope);
      this.#rest(value, scope, 'query');
      this.#walk(entry['key'], scope);
      scope.ctes.add(foldIdentifier(textOf(entry['key'])));
    }
  }

  /** Walks all members of a node except `done`. */
  #rest(node: JsonObject, scope: Scope, ...done: readonly string[]): void {
    for (const [key, value] of Object.entries(node)) if (!done.includes(key)) this.#walk(value, scope);
  }

  #table(node: JsonObject, scope: Scope): void {
    this.#location = locationOf(node) ?? this.#location;
    const source = addSource(scope, sourceName(node));
    switch (textOf(node['type'])) {
      case 'BASE_TABLE':
        this.#baseTable(node, scope, source);
        this.#rest(node, scope);
        return;
      case 'TABLE_FUNCTION':
        this.#tableFunction(node);
        this.#rest(object(node['function']), scope);
        this.#rest(node, scope, 'function');
        return;
      case 'JOIN':
        this.#table(object(node['left']), scope);
        this.#table(object(node['right']), scope);
        if (node['ref_type'] === 'NATURAL') {
          this.#stars.push({ kind: 'natural', location: this.#location ?? 0, relation: '', scope });
        }
        this.#rest(node, scope, 'left', 'right');
        return;
      case 'PIVOT': {
        // Sources inside a PIVOT are not visible outside of it.
        const inside = newScope(scope);
        this.#table(object(node['source']), inside);
        this.#rest(node, inside, 'source');
        return;
      }
      case 'SUBQUERY':
        this.query(object(object(node['subquery'])['node']), scope);
        this.#rest(node, scope, 'subquery');
        return;
      case 'EXPRESSION_LIST':
      case 'EMPTY':
        this.#rest(node, scope);
        return;
      case 'SHOW_REF':
        throw notServed('SUMMARIZE, and SHOW and DESCRIBE in a long query, are not served in FROM', this.#location);
      default:
        throw notServed(`${textOf(node['type'])} is not served in FROM`, this.#location);
    }
  }

  #baseTable(node: JsonObject, scope: Scope, source: Source): void {
    const parts = [node['catalog_name'], node['schema_name'], node['table_name']].map(String).filter((p) => p !== '');
    const name = parts.at(-1);
    const location = locationOf(node);
    // DuckDB takes `FROM ''`, and complains only where the table is read.
    if (name === undefined) throw refusal('SYNTAX_ERROR', 'the name of a table is empty', location);
    if (parts.length === 1 && isCommonTable(name, scope)) {
      if (isObject(node['at_clause'])) throw notServed(`AT cannot follow ${name}, which WITH defines`, location);
      return;
    }
    if (location === undefined) throw notServed(`the table ${name} cannot be read in this place`, undefined);
    const givenAlias = textOf(node['alias']);
    const isNamed = givenAlias !== '';
    const table: OpenTable = {
      location,
      parts,
      at: this.#timeTravel(node),
      source: isNamed ? null : source,
      givenAlias,
      addresses: new Set(),
    };
    this.#tables.push(table);
    scope.bases.push(table);
    if (!isNamed) addTable(scope, table, this.#wholeName(parts).map(foldIdentifier));
  }

  #timeTravel(node: JsonObject): TimeTravel | PendingTravel | null {
    const at = node['at_clause'];
    if (!isObject(at)) return null;
    const expression = object(at['expr']);
    const location = locationOf(expression) ?? locationOf(node) ?? 0;
    const unit = foldKeyword(textOf(at['unit']));
    if (unit !== 'VERSION' && unit !== 'TIMESTAMP') {
      throw refusal('NOT_SUPPORTED', 'AT serves VERSION and TIMESTAMP', location);
    }
    const constant = expression['class'] === 'CONSTANT' ? object(expression['value']) : null;
    if (unit === 'VERSION' && constant?.['is_null'] === false) {
      const value = constant['value'];
      const type = textOf(object(constant['type'])['id']);
      if (type === 'VARCHAR') return { kind: 'ref', ref: textOf(value), location, isLiteral: true };
      const id = type === 'INTEGER' || type === 'BIGINT' ? int64(value)?.toString() : undefined;
      if (id !== undefined) return { kind: 'snapshot', snapshotId: id, location, isLiteral: true };
    }
    this.#constantOnly(expression, { unit, location });
    return { kind: 'expression', unit: unit === 'VERSION' ? 'version' : 'timestamp', expression, location };
  }

  #constantOnly(value: Json | undefined, place: { readonly unit: string; readonly location: number }): void {
    if (Array.isArray(value)) (value as readonly Json[]).forEach((one) => this.#constantOnly(one, place));
    if (!isObject(value)) return;
    const names = value['class'] === 'COLUMN_REF' ? (value['column_names'] as readonly string[]) : [];
    const isColumn = names.length > 1 || (names[0] !== undefined && !CONTEXT_FUNCTIONS.has(foldIdentifier(names[0])));
    if (isColumn || value['class'] === 'SUBQUERY') {
      throw refusal('INVALID_REQUEST', `${place.unit} wants a constant`, place.location);
    }
    for (const child of Object.values(value)) this.#constantOnly(child, place);
  }

  #tableFunction(node: JsonObject): void {
    const call = object(node['function']);
    const name = foldIdentifier(textOf(call['function_name']));
    const location = locationOf(node) ?? locationOf(call);
    if (call['class'] !== 'FUNCTION' || !TABLE_FUNCTIONS.has(name)) {
      const near = didYouMean(nearestName(name, TABLE_FUNCTIONS));
      throw notServed(`the table function ${clip(name)} is not served${near}`, location);
    }
    checkSchema(call, name, location);
  }

  /** Walks expressions, queries, tables and the nodes that hold them; every string in them is a name or a keyword of DuckDB's. */
  #walk(value: Json | undefined, scope: Scope): void {
    if (typeof value === 'string') checkIdentifier(value, this.#location);
    if (Array.isArray(value)) for (const one of value as readonly Json[]) this.#walk(one, scope);
    // A constant's value has neither names nor calls.
    if (!isObject(value) || value['is_null'] !== undefined) return;
    if (value['class'] !== undefined) {
      this.#expression(value, scope);
      return;
    }
    const type = value['type'];
    if (typeof type !== 'string') this.#rest(value, scope);
    else if (QUERY_NODES.has(type)) this.query(value, scope);
    else if (TABLE_NODES.has(type)) this.#table(value, scope);
    else if (OTHER_NODES.has(type)) this.#rest(value, scope);
    else throw notServed(`${type} is not served in a query`, this.#location);
  }

  #expression(node: JsonObject, scope: Scope): void {
    this.#location = locationOf(node) ?? this.#location;
    const kind = textOf(node['class']);
    if (!EXPRESSION_CLASSES.has(kind)) throw notServed(`${kind} is not served in a query`, this.#location);
    if (kind === 'PARAMETER') {
      throw refusal('UNDEFINED_PARAMETER', 'the statement has parameters, but no values for them', locationOf(node));
    }
    if (kind === 'COLUMN_REF') this.#column(node, scope);
    if (kind === 'STAR') this.#star(node, scope);
    if (kind === 'FUNCTION' || kind === 'WINDOW') this.#function(node);
    this.#rest(node, scope);
  }

  #star(node: JsonObject, scope: Scope): void {
    const kind = node['columns'] === true ? 'columns' : 'star';
    const location = locationOf(node) ?? this.#location ?? 0;
    this.#stars.push({ kind, location, relation: foldIdentifier(textOf(node['relation_name'])), scope });
  }

  #function(node: JsonObject): void {
    const name = foldIdentifier(textOf(node['function_name']));
    const location = locationOf(node);
    if (!isFunctionAllowed(name)) throw notServed(`the function ${clip(name)} is not served`, location);
    checkSchema(node, name, location);
    if (CONTEXT_FUNCTIONS.has(name)) this.#asked.add(name);
    if (hasTooManyArguments(name, node)) throw notServed(`${name} takes up to ${ARGUMENTS_MAX} arguments`, location);
    const instead = spellingInstead(name, node);
    if (instead !== undefined) {
      throw notServed(`${name}(value, key) is wrong in this release of DuckDB: write ${instead}`, location);
    }
    const bound = boundOf(name, node);
    if (bound === undefined) return;
    if (foldIdentifier(textOf(node['schema'])) === 'pg_catalog') throw withoutSchema(name, location);
    this.#bounds.add(bound);
  }

  #column(node: JsonObject, scope: Scope): void {
    const written = node['column_names'] as readonly string[];
    const names = written.map(foldIdentifier);
    if (names.some(isUnlisted)) this.#addressed.push({ names, scope });
    const [name = ''] = names;
    if (names.length === 1 && CONTEXT_FUNCTIONS.has(name)) this.#asked.add(name);
    const location = locationOf(node);
    if (location === undefined) return;
    for (let at: Scope | null = scope; at !== null; at = at.parent) {
      // A catalog, a schema, a table and a column, or fewer of them.
      for (const length of [3, 2]) {
        const named = names.length > length ? at.tables.get(qualifiedName(names.slice(0, length))) : undefined;
        if (named === undefined) continue;
        this.#columns.push({ location, parts: written.slice(0, length), scope, table: { named, scope: at } });
        return;
      }
    }
    this.#columns.push({ location, parts: written, scope, table: null });
  }
}

/** The parser writes the schema `main` into the calls that it makes of operators and literals. */
const FUNCTION_SCHEMAS: ReadonlySet<string> = new Set(['', 'main', 'pg_catalog']);

function checkSchema(node: JsonObject, name: string, location: number | undefined): void {
  const schema = foldIdentifier(textOf(node['schema']));
  const isOurs = schema !== '' && CONTEXT_FUNCTIONS.has(name);
  if (textOf(node['catalog']) !== '' || !FUNCTION_SCHEMAS.has(schema) || isOurs) {
    throw withoutSchema(name, location);
  }
}

const withoutSchema = (name: string, location: number | undefined): SkeinError =>
  notServed(`the function ${clip(name)} is called without a schema`, location);

/** The name by which columns may refer to a source; a function without an alias has its own. */
function sourceName(node: JsonObject): string {
  const call = node['function'];
  return textOf(node['alias']) || textOf(node['table_name']) || (isObject(call) ? textOf(call['function_name']) : '');
}

/** `query_location` is 2^64 - 1 where the parser has none. */
function locationOf(node: JsonObject): number | undefined {
  const location = node['query_location'];
  return typeof location === 'number' ? location : undefined;
}

function object(value: Json | undefined): JsonObject {
  if (isObject(value)) return value;
  throw new Error('invariant: the syntax tree holds an object here');
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Cuts a name for a message. */
const clip = (name: string): string => (name.length > 100 ? `${name.slice(0, 100)}...` : name);

const refusal = (code: ErrorCode, message: string, position: number | undefined): SkeinError =>
  new SkeinError(code, message, { position });

const notServed = (message: string, position: number | undefined): SkeinError =>
  refusal('NOT_SUPPORTED', message, position);
