/**
 * The kinds of nodes in the syntax tree of `json_serialize_sql`, release 1.5. A kind that is not listed is refused, so that the syntax of a
 * new release is reviewed before it is served. Nodes that the walk itself refuses are listed, too.
 */
export const QUERY_NODES: ReadonlySet<string> = new Set([
  'SELECT_NODE',
  'SET_OPERATION_NODE',
  'RECURSIVE_CTE_NODE',
  'CTE_NODE',
  'STATEMENT_NODE',
]);

export const TABLE_NODES: ReadonlySet<string> = new Set([
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

/** The `class` of an expression. */
export const EXPRESSION_CLASSES: ReadonlySet<string> = new Set([
  'BETWEEN',
  'CASE',
  'CAST',
  'COLLATE',
  'COLUMN_REF',
  'COMPARISON',
  'CONJUNCTION',
  'CONSTANT',
  'DEFAULT',
  'FUNCTION',
  'LAMBDA',
  'OPERATOR',
  'PARAMETER',
  'POSITIONAL_REFERENCE',
  'STAR',
  'SUBQUERY',
  'WINDOW',
]);

/** Nodes within queries and expressions that are neither: modifiers, orders, parts of types. */
export const OTHER_NODES: ReadonlySet<string> = new Set([
  'DISTINCT_MODIFIER',
  'LIMIT_MODIFIER',
  'LIMIT_PERCENT_MODIFIER',
  'ORDER_MODIFIER',
  'ASCENDING',
  'DESCENDING',
  'ORDER_DEFAULT',
  'ARRAY_TYPE_INFO',
  'DECIMAL_TYPE_INFO',
  'ENUM_TYPE_INFO',
  'GENERIC_TYPE_INFO',
  'GEO_TYPE_INFO',
  'LIST_TYPE_INFO',
  'STRING_TYPE_INFO',
  'STRUCT_TYPE_INFO',
  'UNBOUND_TYPE_INFO',
  'USER_TYPE_INFO',
]);
