import type { Json, JsonObject } from '#shared/json.ts';
import { textOf } from '../plan/json-node.ts';

/**
 * Below a table function that takes rows, DuckDB's plan printer leaves columns as they were bound (`BOUND_COLUMN_REF`: a table index and a
 * column of it); everywhere else they are positions (`BOUND_REF`). This replaces all of them by positions. A column that no child has stays
 * as it is.
 */
export function resolveColumnRefs(node: JsonObject): JsonObject {
  const inputs = childrenOf(node).map(resolveColumnRefs);
  const given = inputs.map(bindings);
  const all = given.flat();
  const fields = Object.entries(node).map(([key, value]): [string, Json] => {
    if (key === 'children') return [key, inputs];
    if (key !== 'conditions') return [key, replace(value, all)];
    // Each operand of a join's condition refers to the columns of its own side.
    const sides = (value as readonly JsonObject[]).map((one) => ({
      ...one,
      left: replace(one['left'] ?? null, given[0] ?? []),
      right: replace(one['right'] ?? null, given[1] ?? []),
    }));
    return [key, sides];
  });
  return Object.fromEntries(fields);
}

/** A column as bound: `table.column`. */
type Binding = string;

const childrenOf = (node: JsonObject): readonly JsonObject[] => (node['children'] ?? []) as readonly JsonObject[];

function replace(json: Json, inputs: readonly Binding[]): Json {
  if (Array.isArray(json)) return (json as readonly Json[]).map((one) => replace(one, inputs));
  if (typeof json !== 'object' || json === null) return json;
  const node = json as JsonObject;
  if (node['expression_class'] === 'BOUND_COLUMN_REF') {
    const { table_index: table = 0, column_index: column = 0 } = (node['binding'] ?? {}) as JsonObject;
    const index = inputs.indexOf(`${Number(table)}.${Number(column)}`);
    return index < 0 ? node : { ...node, expression_class: 'BOUND_REF', type: 'BOUND_REF', index };
  }
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, replace(value, inputs)]));
}

/** Returns the names by which parent nodes refer to a node's output columns. */
function bindings(node: JsonObject): readonly Binding[] {
  const own = (index: string, count: number): Binding[] =>
    Array.from({ length: count }, (_, column) => `${Number(node[index] ?? 0)}.${column}`);
  const length = (key: string): number => ((node[key] ?? []) as readonly Json[]).length;
  const [first = [], second = []] = childrenOf(node).map(bindings);
  switch (textOf(node['type'])) {
    case 'LOGICAL_PROJECTION':
      return own('table_index', length('expressions'));
    case 'LOGICAL_GET': {
      const columns = own('table_index', length('column_indexes'));
      const kept = pick(columns, node['projection_ids']);
      return [...kept, ...((node['projected_input'] ?? []) as readonly number[]).flatMap((at) => first[at] ?? [])];
    }
    case 'LOGICAL_AGGREGATE_AND_GROUP_BY':
      return [
        ...own('group_index', length('groups')),
        ...own('aggregate_index', length('expressions')),
        ...own('groupings_index', length('grouping_functions')),
      ];
    case 'LOGICAL_WINDOW':
      return [...first, ...own('window_index', length('expressions'))];
    case 'LOGICAL_UNNEST':
      return [...first, ...own('unnest_index', length('expressions'))];
    case 'LOGICAL_FILTER':
      return pick(first, node['projection_map']);
    case 'LOGICAL_ORDER_BY':
      return pick(first, node['projections']);
    case 'LOGICAL_LIMIT':
    case 'LOGICAL_DISTINCT':
    case 'LOGICAL_SAMPLE':
      return first;
    case 'LOGICAL_COMPARISON_JOIN':
    case 'LOGICAL_DELIM_JOIN':
    case 'LOGICAL_ANY_JOIN':
    case 'LOGICAL_ASOF_JOIN':
      return joinBindings(node, pick(first, node['left_projection_map']), pick(second, node['right_projection_map']));
    case 'LOGICAL_CROSS_PRODUCT':
    case 'LOGICAL_POSITIONAL_JOIN':
      return [...first, ...second];
    case 'LOGICAL_UNION':
    case 'LOGICAL_INTERSECT':
    case 'LOGICAL_EXCEPT':
    case 'LOGICAL_RECURSIVE_CTE':
      return own('table_index', Number(node['column_count'] ?? first.length));
    case 'LOGICAL_MATERIALIZED_CTE':
      return second;
    case 'LOGICAL_EXPRESSION_GET':
      return own('table_index', length('expr_types'));
    default:
      return own('table_index', length('chunk_types') || length('return_types'));
  }
}

function joinBindings(node: JsonObject, left: readonly Binding[], right: readonly Binding[]): readonly Binding[] {
  switch (textOf(node['join_type'])) {
    case 'SEMI':
    case 'ANTI':
      return left;
    case 'RIGHT_SEMI':
    case 'RIGHT_ANTI':
      return right;
    case 'MARK':
      return [...left, `${Number(node['mark_index'] ?? 0)}.0`];
    default:
      return [...left, ...right];
  }
}

function pick(columns: readonly Binding[], positions: Json | undefined): readonly Binding[] {
  const list = (positions ?? []) as readonly number[];
  return list.length === 0 ? columns : list.flatMap((at) => columns[at] ?? []);
}
