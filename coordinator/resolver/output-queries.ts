import type { Json, JsonObject } from '#shared/json.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { textOf } from '../plan/json-node.ts';
import type { OutputColumns, OutputQuery, OutputSource } from '../binding/query-references.ts';

/** Columns and sources of all queries that are told. */
const PARTS_MAX = 10_000;

/** Joins that keep rows of their right side that have no other one: the columns of USING are computed of both sides. */
const KEEPS_RIGHT: ReadonlySet<string> = new Set(['RIGHT', 'FULL']);
/** Joins whose right side gives no columns. */
const TESTS: ReadonlySet<string> = new Set(['SEMI', 'ANTI']);

/**
 * The columns of a query and of the queries in its FROM, which `outputOrigins` follows to the tables when these are known. As in Postgres a
 * column that passes subqueries and WITH is a table's, and one of a set operation or a recursive query is not.
 * @param tables the table at each location
 */
export function outputQueries(node: JsonObject, tables: ReadonlyMap<number, number>): readonly OutputQuery[] {
  const reader = new OutputReader(tables);
  const last = reader.query(node, new Map());
  return last === null || reader.parts > PARTS_MAX ? [] : reader.queries.slice(0, last + 1);
}

/** The queries of WITH by their folded names; null = its columns are not told. */
type CommonTables = ReadonlyMap<string, OutputSource['of']>;

class OutputReader {
  readonly queries: OutputQuery[] = [];
  readonly #tables: ReadonlyMap<number, number>;
  parts = 0;

  constructor(tables: ReadonlyMap<number, number>) {
    this.#tables = tables;
  }

  /** @returns its place in `queries`; null when its columns are not told */
  query(node: JsonObject, outer: CommonTables): number | null {
    const type = textOf(node['type']);
    if (type !== 'SELECT_NODE' && type !== 'SET_OPERATION_NODE') return null;
    const common = this.#common(node, outer);
    if (type === 'SELECT_NODE') return this.#select(node, common);
    const first = this.query(objectOf(node['left']), common);
    return first === null ? null : this.#add({ columns: [STAR], from: [sourceOf({ query: first })], isComputed: true });
  }

  #add(query: OutputQuery): number {
    this.parts += query.columns.length + query.from.length;
    return this.queries.push(query) - 1;
  }

  /** Each sees those before it. */
  #common(node: JsonObject, outer: CommonTables): CommonTables {
    const map = objectsIn(objectOf(node['cte_map'])['map']);
    if (map.length === 0) return outer;
    const common = new Map(outer);
    for (const entry of map) {
      const value = objectOf(entry['value']);
      const query = this.query(objectOf(objectOf(value['query'])['node']), common);
      common.set(foldIdentifier(textOf(entry['key'])), query === null ? null : this.#renamed(query, value['aliases']));
    }
    return common;
  }

  /** A query of WITH by the names that it gives the columns. */
  #renamed(query: number, names: Json | undefined): OutputSource['of'] {
    const renamed = textsIn(names);
    if (renamed.length === 0) return { query };
    return { query: this.#add({ columns: [STAR], from: [{ ...sourceOf({ query }), renamed }], isComputed: false }) };
  }

  #select(node: JsonObject, common: CommonTables): number | null {
    const from = this.#sources(objectOf(node['from_table']), common);
    const columns = objectsIn(node['select_list']).map(outputColumns);
    if (from === null || columns.includes(null)) return null;
    return this.#add({ columns: columns.filter((one) => one !== null), from, isComputed: false });
  }

  /** Null when the columns of a star over them cannot be told. */
  #sources(node: JsonObject, common: CommonTables): OutputSource[] | null {
    const name = foldIdentifier(textOf(node['alias']) || textOf(node['table_name']));
    const renamed = textsIn(node['column_name_alias']);
    switch (textOf(node['type'])) {
      case 'EMPTY':
        return [];
      case 'BASE_TABLE':
        return [{ ...sourceOf(this.#table(node, common)), name, renamed }];
      case 'SUBQUERY': {
        const query = this.query(objectOf(objectOf(node['subquery'])['node']), common);
        return [{ ...sourceOf(query === null ? null : { query }), name, renamed }];
      }
      case 'EXPRESSION_LIST': {
        const [first] = Array.isArray(node['values']) ? (node['values'] as readonly Json[]) : [];
        const columns = Array.isArray(first) ? first.map(() => ({ kind: 'computed', name: '' }) as const) : [];
        const query = this.#add({ columns, from: [], isComputed: true });
        return [{ ...sourceOf({ query }), name, renamed }];
      }
      case 'JOIN':
        return this.#joined(node, common);
      default:
        return [{ ...sourceOf(null), name }];
    }
  }

  #table(node: JsonObject, common: CommonTables): OutputSource['of'] {
    const isBare = textOf(node['catalog_name']) === '' && textOf(node['schema_name']) === '';
    const query = isBare ? common.get(foldIdentifier(textOf(node['table_name']))) : undefined;
    if (query !== undefined) return query;
    const location = node['query_location'];
    const table = typeof location === 'number' ? this.#tables.get(location) : undefined;
    return table === undefined ? null : { table };
  }

  #joined(node: JsonObject, common: CommonTables): OutputSource[] | null {
    const left = this.#sources(objectOf(node['left']), common);
    const right = this.#sources(objectOf(node['right']), common);
    if (left === null || right === null || node['ref_type'] === 'NATURAL' || textOf(node['alias']) !== '') return null;
    const type = textOf(node['join_type']);
    if (TESTS.has(type)) return left;
    const merged = textsIn(node['using_columns']);
    const keepsRows = KEEPS_RIGHT.has(type);
    return [...left, ...right.map((one) => (merged.length === 0 ? one : { ...one, merged, keepsRows }))];
  }
}

const sourceOf = (of: OutputSource['of']): OutputSource => ({
  name: '',
  renamed: [],
  of,
  merged: [],
  keepsRows: false,
});

const STAR = { kind: 'star', relation: '', without: [] } as const;

/** An expression of the SELECT list; null for a star that says more than which columns it leaves out. */
function outputColumns(node: JsonObject): OutputColumns | null {
  const alias = foldIdentifier(textOf(node['alias']));
  if (node['class'] === 'STAR') {
    const isMore =
      node['columns'] === true || MORE_OF_STAR.some((key) => objectsIn(node[key]).length > 0) || isObject(node['expr']);
    if (isMore) return null;
    return {
      kind: 'star',
      relation: foldIdentifier(textOf(node['relation_name'])),
      without: textsIn(node['exclude_list']),
    };
  }
  if (node['class'] !== 'COLUMN_REF') return { kind: 'computed', name: alias };
  const parts = textsIn(node['column_names']);
  return { kind: 'reference', name: alias || (parts.at(-1) ?? ''), parts };
}

const MORE_OF_STAR = ['replace_list', 'rename_list', 'qualified_exclude_list'];

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const objectOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});
const objectsIn = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? (value as readonly Json[]).filter(isObject) : [];
const textsIn = (value: Json | undefined): readonly string[] =>
  Array.isArray(value) ? (value as readonly Json[]).map((one) => foldIdentifier(textOf(one))) : [];
