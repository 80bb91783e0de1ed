import { SkeinError, type ErrorCode } from '#shared/error.ts';
import { int64, type Json, type JsonObject } from '#shared/json.ts';
import type { BoundedFamily } from '#shared/sql/bounded-functions.ts';
import { boundOf } from './bounded-calls.ts';
import { CONTEXT_FUNCTIONS, isFunctionAllowed, TABLE_FUNCTIONS } from './function-policy.ts';
import type { QualifiedColumn, QueryReferences, TableReference, TimeTravel } from './query-references.ts';
import { textOf } from '../planner/json-node.ts';

/** Names that a query takes for granted. */
export type NameDefaults = { readonly catalog: string; readonly schema: string };

/** A query's references before the instants of `AT (TIMESTAMP => ...)` are computed. */
export type FoundReferences = Omit<QueryReferences, 'tables'> & {
  readonly tables: readonly (Omit<TableReference, 'at'> & { readonly at: TimeTravel | PendingInstant | null })[];
};

/** The syntax tree of a constant expression that is an instant. */
export type PendingInstant = {
  readonly kind: 'expression';
  readonly expression: JsonObject;
  readonly location: number;
};

/**
 * Walks the syntax tree of `json_serialize_sql` with the scopes of its CTEs.
 * @throws SYNTAX_ERROR, NOT_SUPPORTED for statements, table functions and functions that are not served, INVALID_REQUEST for
 * parameters; positions are byte offsets.
 */
export function findReferences(tree: Json, defaults: NameDefaults): FoundReferences {
  const statements = (tree as JsonObject)['statements'] as readonly JsonObject[] | undefined;
  const statement = statements?.[0];
  if (statement === undefined) throw new SkeinError('SYNTAX_ERROR', 'the query is empty', { position: 0 });
  if (statements?.length !== 1) throw new SkeinError('SYNTAX_ERROR', 'only one statement at a time');
  const finder = new ReferenceFinder(defaults);
  finder.query(object(statement['node']), { ctes: new Set(), tables: [], parent: null });
  return finder.found();
}

type OpenTable = {
  readonly location: number;
  readonly parts: readonly string[];
  readonly alias: string | null;
  readonly at: TimeTravel | PendingInstant | null;
  /** Unaliased tables of the same name in the same FROM: each needs an alias of its own. */
  conflict: boolean;
};

type Scope = { readonly ctes: Set<string>; readonly tables: OpenTable[]; readonly parent: Scope | null };
type OpenColumn = { readonly location: number; readonly parts: number; readonly table: OpenTable };

class ReferenceFinder {
  readonly #defaults: NameDefaults;
  readonly #tables: OpenTable[] = [];
  readonly #columns: OpenColumn[] = [];
  #contextual = false;
  readonly #bounds = new Set<BoundedFamily>();

  constructor(defaults: NameDefaults) {
    this.#defaults = defaults;
  }

  found(): FoundReferences {
    const columns: QualifiedColumn[] = this.#columns.map(({ location, parts, table }) => ({
      location,
      parts,
      alias: aliasOf(table) ?? '',
    }));
    const tables = this.#tables
      .map((table) => ({ location: table.location, parts: table.parts, alias: aliasOf(table), at: table.at }))
      .sort((a, b) => a.location - b.location);
    return { tables, columns, contextual: this.#contextual, bounds: [...this.#bounds].sort() };
  }

  query(node: JsonObject, parent: Scope): void {
    const scope: Scope = { ctes: new Set(), tables: [], parent };
    this.#commonTables(node, scope);
    switch (textOf(node['type'])) {
      case 'SELECT_NODE':
        if (isObject(node['from_table'])) this.#table(node['from_table'], scope);
        markConflicts(scope.tables);
        this.#rest(node, scope, SELECT_DONE);
        return;
      case 'SET_OPERATION_NODE':
        this.#rest(node, scope, SELECT_DONE);
        return;
      case 'RECURSIVE_CTE_NODE':
        this.query(object(node['left']), scope);
        scope.ctes.add(textOf(node['cte_name']).toLowerCase());
        this.query(object(node['right']), scope);
        this.#rest(node, scope, RECURSIVE_DONE);
        return;
      default:
        throw notServed(`${textOf(node['type'])} is not served in a query`, undefined);
    }
  }

  /** A CTE sees those before it; a recursive one is a node of its own, which adds its name. */
  #commonTables(node: JsonObject, scope: Scope): void {
    const map = (node['cte_map'] as JsonObject | undefined)?.['map'];
    for (const entry of (map ?? []) as readonly JsonObject[]) {
      const value = object(entry['value']);
      this.query(object(object(value['query'])['node']), scope);
      this.#walk(value['key_targets'], scope);
      scope.ctes.add(textOf(entry['key']).toLowerCase());
    }
  }

  #rest(node: JsonObject, scope: Scope, done: ReadonlySet<string>): void {
    for (const [key, value] of Object.entries(node)) if (!done.has(key)) this.#walk(value, scope);
  }

  #table(node: JsonObject, scope: Scope): void {
    switch (textOf(node['type'])) {
      case 'BASE_TABLE':
        this.#baseTable(node, scope);
        return;
      case 'TABLE_FUNCTION':
        this.#tableFunction(node, scope);
        return;
      case 'JOIN':
        this.#table(object(node['left']), scope);
        this.#table(object(node['right']), scope);
        this.#walk(node['condition'], scope);
        return;
      case 'SUBQUERY':
        this.query(object(object(node['subquery'])['node']), scope);
        return;
      case 'PIVOT':
        this.#table(object(node['source']), scope);
        this.#rest(node, scope, PIVOT_DONE);
        return;
      case 'EXPRESSION_LIST':
      case 'EMPTY':
        this.#rest(node, scope, NOTHING_DONE);
        return;
      case 'SHOW_REF':
        throw notServed('SHOW, DESCRIBE and SUMMARIZE are not served as queries', locationOf(node));
      default:
        throw notServed(`${textOf(node['type'])} is not served in FROM`, locationOf(node));
    }
  }

  #baseTable(node: JsonObject, scope: Scope): void {
    const parts = [node['catalog_name'], node['schema_name'], node['table_name']].map(String).filter((p) => p !== '');
    const name = parts.at(-1) ?? '';
    if (parts.length === 1 && isCommonTable(name, scope)) return;
    const location = locationOf(node);
    if (location === undefined) throw notServed(`the table ${name} cannot be read in this place`, undefined);
    const alias = node['alias'] === '' ? name : null;
    const table: OpenTable = { location, parts, alias, at: this.#timeTravel(node, scope), conflict: false };
    this.#tables.push(table);
    if (alias !== null) scope.tables.push(table);
  }

  #timeTravel(node: JsonObject, scope: Scope): TimeTravel | PendingInstant | null {
    const at = node['at_clause'];
    if (!isObject(at)) return null;
    const expression = object(at['expr']);
    const location = locationOf(expression) ?? locationOf(node) ?? 0;
    if (textOf(at['unit']).toUpperCase() === 'VERSION') {
      const constant = expression['class'] === 'CONSTANT' ? object(expression['value']) : null;
      const value = constant?.['value'];
      const version = typeof value === 'string' ? value : int64(value)?.toString();
      if (version === undefined) {
        throw refusal('INVALID_REQUEST', 'VERSION wants a snapshot id, or the name of a branch or tag', location);
      }
      return { kind: 'version', version };
    }
    if (textOf(at['unit']).toUpperCase() !== 'TIMESTAMP') {
      throw refusal('NOT_SUPPORTED', 'AT serves VERSION and TIMESTAMP', location);
    }
    this.#constantOnly(expression, location);
    this.#walk(expression, scope);
    return { kind: 'expression', expression, location };
  }

  #constantOnly(value: Json | undefined, location: number): void {
    if (Array.isArray(value)) (value as readonly Json[]).forEach((one) => this.#constantOnly(one, location));
    if (!isObject(value)) return;
    const names = value['class'] === 'COLUMN_REF' ? (value['column_names'] as readonly string[]) : [];
    const isColumn = names.length > 1 || (names[0] !== undefined && !CONTEXT_FUNCTIONS.has(names[0].toLowerCase()));
    if (isColumn || value['class'] === 'SUBQUERY') {
      throw refusal('INVALID_REQUEST', 'TIMESTAMP wants a constant', location);
    }
    for (const child of Object.values(value)) this.#constantOnly(child, location);
  }

  #tableFunction(node: JsonObject, scope: Scope): void {
    const call = object(node['function']);
    const name = textOf(call['function_name']).toLowerCase();
    const location = locationOf(node) ?? locationOf(call);
    if (call['class'] !== 'FUNCTION' || !TABLE_FUNCTIONS.has(name)) {
      throw notServed(`the table function ${name} is not served`, location);
    }
    checkSchema(call, name, location);
    this.#rest(call, scope, NOTHING_DONE);
    this.#rest(node, scope, FUNCTION_DONE);
  }

  /** Expressions, and whatever holds them. */
  #walk(value: Json | undefined, scope: Scope): void {
    if (Array.isArray(value)) {
      for (const one of value as readonly Json[]) this.#walk(one, scope);
      return;
    }
    if (!isObject(value)) return;
    if (QUERY_NODES.has(textOf(value['type']))) {
      this.query(value, scope);
      return;
    }
    if (TABLE_NODES.has(textOf(value['type'])) && value['class'] === undefined) {
      this.#table(value, scope);
      return;
    }
    switch (textOf(value['class'])) {
      case 'CONSTANT':
        return;
      case 'COLUMN_REF':
        this.#column(value, scope);
        return;
      case 'FUNCTION':
      case 'WINDOW':
        this.#function(value);
        break;
      case 'PARAMETER':
        throw refusal('INVALID_REQUEST', 'the statement has parameters, but no values for them', locationOf(value));
      default:
    }
    for (const child of Object.values(value)) if (typeof child === 'object') this.#walk(child, scope);
  }

  #function(node: JsonObject): void {
    const name = textOf(node['function_name']).toLowerCase();
    const location = locationOf(node);
    if (!isFunctionAllowed(name)) throw notServed(`the function ${name} is not served`, location);
    checkSchema(node, name, location);
    if (CONTEXT_FUNCTIONS.has(name)) this.#contextual = true;
    const bound = boundOf(name, node);
    if (bound === undefined) return;
    if (textOf(node['schema']).toLowerCase() === 'pg_catalog') throw withoutSchema(name, location);
    this.#bounds.add(bound);
  }

  #column(node: JsonObject, scope: Scope): void {
    const names = (node['column_names'] as readonly string[]).map((n) => n.toLowerCase());
    if (names.length === 1) {
      if (CONTEXT_FUNCTIONS.has(names[0] ?? '')) this.#contextual = true;
      return;
    }
    const location = locationOf(node);
    if (location === undefined) return;
    for (let at: Scope | null = scope; at !== null; at = at.parent) {
      for (const table of at.tables) {
        const parts = this.#qualifierLength(names, table);
        if (parts === 0) continue;
        this.#columns.push({ location, parts, table });
        return;
      }
    }
  }

  /** How many of the first names are this table's qualified name; 0 when they are not. */
  #qualifierLength(names: readonly string[], table: OpenTable): number {
    const [name = '', schema = this.#defaults.schema, catalog = this.#defaults.catalog] = table.parts
      .toReversed()
      .map((p) => p.toLowerCase());
    if (names.length >= 4 && same(names, [catalog.toLowerCase(), schema.toLowerCase(), name])) return 3;
    return names.length >= 3 && same(names, [schema.toLowerCase(), name]) ? 2 : 0;
  }
}

const SELECT_DONE: ReadonlySet<string> = new Set(['cte_map', 'from_table']);
const RECURSIVE_DONE: ReadonlySet<string> = new Set(['cte_map', 'left', 'right']);
const PIVOT_DONE: ReadonlySet<string> = new Set(['source']);
const FUNCTION_DONE: ReadonlySet<string> = new Set(['function']);
const NOTHING_DONE: ReadonlySet<string> = new Set();
const QUERY_NODES: ReadonlySet<string> = new Set([
  'SELECT_NODE',
  'SET_OPERATION_NODE',
  'RECURSIVE_CTE_NODE',
  'CTE_NODE',
  'STATEMENT_NODE',
]);
const TABLE_NODES: ReadonlySet<string> = new Set([
  'BASE_TABLE',
  'TABLE_FUNCTION',
  'JOIN',
  'SUBQUERY',
  'PIVOT',
  'EXPRESSION_LIST',
  'EMPTY',
  'SHOW_REF',
  'COLUMN_DATA',
  'DELIM_GET',
  'CTE',
  'BOUND_TABLE_REF',
]);
/** The parser itself writes `main` into the calls that operators and literals stand for. */
const FUNCTION_SCHEMAS: ReadonlySet<string> = new Set(['', 'main', 'pg_catalog']);

function checkSchema(node: JsonObject, name: string, location: number | undefined): void {
  const schema = textOf(node['schema']).toLowerCase();
  const isOurs = schema !== '' && CONTEXT_FUNCTIONS.has(name);
  if (textOf(node['catalog']) !== '' || !FUNCTION_SCHEMAS.has(schema) || isOurs) {
    throw withoutSchema(name, location);
  }
}

const withoutSchema = (name: string, location: number | undefined): SkeinError =>
  notServed(`the function ${name} is called without a schema`, location);

/** Unaliased tables of one FROM with the same last name but other schemas get their whole name as the alias. */
function markConflicts(tables: readonly OpenTable[]): void {
  if (tables.length < 2) return;
  for (const table of tables) {
    const name = table.alias?.toLowerCase();
    const others = tables.filter((t) => t !== table && t.alias?.toLowerCase() === name);
    table.conflict = others.some((t) => !same(lower(t.parts), lower(table.parts)));
  }
}

const aliasOf = (table: OpenTable): string | null => (table.conflict ? table.parts.join('.') : table.alias);

function isCommonTable(name: string, scope: Scope): boolean {
  const key = name.toLowerCase();
  for (let at: Scope | null = scope; at !== null; at = at.parent) if (at.ctes.has(key)) return true;
  return false;
}

/** Whether `names` begins with `prefix`. */
const same = (names: readonly string[], prefix: readonly string[]): boolean => prefix.every((p, i) => names[i] === p);
const lower = (names: readonly string[]): readonly string[] => names.map((n) => n.toLowerCase());

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

const refusal = (code: ErrorCode, message: string, position: number | undefined): SkeinError =>
  new SkeinError(code, message, { position });
const notServed = (message: string, position: number | undefined): SkeinError =>
  refusal('NOT_SUPPORTED', message, position);
