import type { JsonObject } from '#shared/json.ts';

/**
 * The members of DuckDB's operators and expressions as `json_serialize_plan` of release 1.5 prints them: those that the decoder reads, and
 * those that say nothing about the rows (numbers by which DuckDB names columns, names of the arguments' types, statistics).
 */
type Members = { readonly read: ReadonlySet<string>; readonly silent: ReadonlySet<string> };

const words = (text: string): ReadonlySet<string> => new Set(text.split(' ').filter((word) => word !== ''));
const members = (read: string, silent = ''): Members => ({ read: words(read), silent: words(silent) });
const operator = (read: string, silent = ''): Members => members(`type children ${read}`, silent);
/** An operator without inputs. */
const leaf = (read: string, silent = ''): Members => members(`type ${read}`, `children ${silent}`);
/** The class says what it is; for some classes the type says more. */
const expression = (read: string, silent = ''): Members =>
  members(`expression_class ${read}`, `type alias query_location ${silent}`);
const call = (read: string, silent = ''): Members =>
  members(`name children return_type function_data ${read}`, `expression_class type alias query_location ${silent}`);

const JOIN = 'join_type left_projection_map right_projection_map';
const SILENT_OF_JOIN = 'mark_index mark_types';
const COMPARISON_JOIN = `${JOIN} conditions predicate duplicate_eliminated_columns delim_flipped`;
const SET_OPERATION = ['setop_all', 'table_index column_count allow_out_of_order'] as const;
const SILENT_OF_CALL = 'arguments catalog_name schema_name has_serialize';

export const MEMBERS: Readonly<Record<string, Members>> = {
  LOGICAL_GET: operator(
    'returned_types names column_indexes projection_ids parameters table_filters name named_parameters ordinality_idx ' +
      'input_table_types projected_input extra_info',
    `table_index input_table_names original_arguments ${SILENT_OF_CALL}`,
  ),
  LOGICAL_FILTER: operator('expressions projection_map'),
  LOGICAL_PROJECTION: operator('expressions', 'table_index'),
  LOGICAL_AGGREGATE_AND_GROUP_BY: operator(
    'groups grouping_sets expressions grouping_functions',
    'group_index aggregate_index groupings_index distinct_validity',
  ),
  LOGICAL_WINDOW: operator('expressions', 'window_index'),
  LOGICAL_UNNEST: operator('expressions', 'unnest_index'),
  LOGICAL_DISTINCT: operator('distinct_targets order_by distinct_type'),
  LOGICAL_ORDER_BY: operator('orders projections'),
  LOGICAL_LIMIT: operator('limit_val offset_val'),
  LOGICAL_SAMPLE: operator('sample_options'),
  LOGICAL_COMPARISON_JOIN: operator(COMPARISON_JOIN, SILENT_OF_JOIN),
  LOGICAL_DELIM_JOIN: operator(COMPARISON_JOIN, SILENT_OF_JOIN),
  LOGICAL_ASOF_JOIN: operator(COMPARISON_JOIN, SILENT_OF_JOIN),
  LOGICAL_ANY_JOIN: operator(`${JOIN} condition`, SILENT_OF_JOIN),
  LOGICAL_CROSS_PRODUCT: operator(''),
  LOGICAL_POSITIONAL_JOIN: operator(''),
  LOGICAL_DELIM_GET: leaf('chunk_types', 'table_index'),
  LOGICAL_UNION: operator(...SET_OPERATION),
  LOGICAL_INTERSECT: operator(...SET_OPERATION),
  LOGICAL_EXCEPT: operator(...SET_OPERATION),
  LOGICAL_MATERIALIZED_CTE: operator('table_index ctename', 'column_count materialize'),
  LOGICAL_RECURSIVE_CTE: operator('table_index ctename union_all key_targets ref_recurring', 'column_count'),
  LOGICAL_CTE_REF: leaf('cte_index chunk_types bound_columns is_recurring', 'table_index'),
  LOGICAL_EXPRESSION_GET: operator('expressions expr_types', 'table_index'),
  LOGICAL_CHUNK_GET: leaf('collection chunk_types', 'table_index'),
  LOGICAL_DUMMY_SCAN: leaf('', 'table_index'),
  LOGICAL_EMPTY_RESULT: leaf('return_types', 'bindings'),

  BOUND_REF: expression('index alias return_type', 'binding depth'),
  BOUND_CONSTANT: expression('value'),
  BOUND_COMPARISON: expression('type left right'),
  BOUND_CONJUNCTION: expression('type children'),
  BOUND_BETWEEN: expression('input lower upper lower_inclusive upper_inclusive'),
  BOUND_OPERATOR: expression('type children return_type'),
  BOUND_FUNCTION: expression(
    'name children return_type function_data',
    `original_arguments is_operator ${SILENT_OF_CALL}`,
  ),
  BOUND_AGGREGATE: call('aggregate_type filter order_bys original_arguments', SILENT_OF_CALL),
  BOUND_WINDOW: call(
    'type partitions orders arg_orders filters distinct ignore_nulls start end start_expr end_expr exclude_clause ' +
      'offset_expr default_expr original_arguments',
    SILENT_OF_CALL,
  ),
  BOUND_CAST: expression('child return_type try_cast'),
  BOUND_CASE: expression('case_checks else_expr return_type'),
  BOUND_UNNEST: expression('child return_type'),
  BOUND_COLUMN_REF: expression('return_type', 'binding depth'),

  condition: members('left right comparison'),
  order: members('type expression null_order'),
  case: members('when_expr then_expr'),
  limit: members('type constant_integer constant_percentage expression'),
  orders: members('orders'),
  filters: members('filters'),
};

/**
 * Refuses a node with a member that is not known: it may be a condition, and a plan without it would give other rows.
 * @throws Error: the query runs whole then.
 */
export function checkMembers(node: JsonObject, kind: string): void {
  const known = MEMBERS[kind];
  if (known === undefined) throw new Error(`unknown ${kind}`);
  for (const name of Object.keys(node)) {
    const isKnown = known.read.has(name) || (known.silent.has(name) && !(name === 'children' && hasAny(node)));
    if (!isKnown) throw new Error(`unknown member ${name} of ${kind}`);
  }
}

const hasAny = ({ children }: JsonObject): boolean => Array.isArray(children) && children.length > 0;
