import { unreachable } from '#shared/must.ts';
import type { Expression } from './expression.ts';
import { expressionsOf, walkExpression } from './expression-tree.ts';
import type { Plan } from './plan.ts';
import { walkPlan } from './plan-tree.ts';
import type { SqlType } from './sql-type.ts';

/**
 * Whether a plan reads one table, once, and computes nothing but values of a bounded size: comparisons, logic, arithmetic, parts of dates, and
 * aggregates of one value. Such an expression cannot tell of a row by the memory that it takes, and DuckDB evaluates those of them that may
 * raise row by row, in the rows that have reached them: it evaluates over the whole dictionary of a column what never raises.
 */
export function isPlainPlan(plan: Plan): boolean {
  let scans = 0;
  for (const node of walkPlan(plan)) {
    if (!NODES.has(node.kind)) return false;
    if (node.kind === 'scan') scans += 1;
    if (node.kind === 'limit' && !(isNumber(node.limit) && isNumber(node.offset))) return false;
    if (!expressionsOf(node).every(isPlain)) return false;
  }
  return scans === 1;
}

const NODES: ReadonlySet<Plan['kind']> = new Set([
  'scan',
  'filter',
  'project',
  'aggregate',
  'distinct',
  'sort',
  'limit',
  'oneRow',
]);

const isNumber = ({ kind }: { readonly kind: string }): boolean => kind === 'none' || kind === 'rows';

const isPlain = (expression: Expression): boolean => [...walkExpression(expression)].every(isPlainNode);

function isPlainNode(one: Expression): boolean {
  switch (one.kind) {
    case 'column':
    case 'constant':
    case 'compare':
    case 'and':
    case 'or':
    case 'between':
    case 'in':
    case 'not':
    case 'isNull':
    case 'isNotNull':
    case 'case':
      return true;
    case 'cast':
      return isFixed(one.type) && isFixed(typeOf(one.child));
    case 'function':
      return FUNCTIONS.has(one.name) && one.lambda === undefined && isFixed(one.type);
    case 'aggregate': {
      const { name, orders, erased = null } = one.call;
      return AGGREGATES.has(name) && orders.length === 0 && (erased === null || erased.length === 0);
    }
    case 'operator':
    case 'unnest':
    case 'window':
      return false;
    default:
      return unreachable(one);
  }
}

const FUNCTIONS: ReadonlySet<string> = new Set(
  '+ - * / // % abs ceil contains date_part date_trunc day floor length month prefix round suffix year ~~ !~~'.split(
    ' ',
  ),
);
const AGGREGATES: ReadonlySet<string> = new Set('avg count count_star first max min sum sum_no_overflow'.split(' '));

/** Numbers, dates and times. */
const FIXED: ReadonlySet<string> = new Set(
  `BOOLEAN TINYINT SMALLINT INTEGER BIGINT HUGEINT UTINYINT USMALLINT UINTEGER UBIGINT UHUGEINT FLOAT DOUBLE DATE TIMESTAMP TIME`.split(
    ' ',
  ),
);
const isFixed = (type: SqlType | null): boolean =>
  type !== null && (type.kind === 'decimal' || (type.kind === 'scalar' && FIXED.has(type.name)));

/** The type of a value that a cast of a plain expression takes; null when it is not so plain. */
function typeOf(expression: Expression): SqlType | null {
  return 'type' in expression ? expression.type : expression.kind === 'aggregate' ? expression.call.type : null;
}
