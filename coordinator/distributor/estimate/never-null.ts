import { unreachable } from '#shared/must.ts';
import type { Expression } from '../../plan/expression.ts';
import type { JoinPlan, Plan } from '../../plan/plan.ts';
import { expressionType, outputFields } from '../../plan/plan-schema.ts';
import type { SqlType } from '../../plan/sql-type.ts';
import type { ScanFacts } from '../fragment.ts';

/**
 * Says of each column of a plan's rows whether none of them is NULL, by the manifests' counts of NULLs; false also when that is not known.
 */
export function neverNullColumns(plan: Plan, scans: readonly ScanFacts[]): readonly boolean[] {
  const of = (child: Plan): readonly boolean[] => neverNullColumns(child, scans);
  switch (plan.kind) {
    case 'scan':
      return plan.columns.map(({ index }) => scans[plan.scan]?.columns[index]?.nulls === 0);
    case 'filter':
    case 'sort':
      return pick(of(plan.child), plan.projection);
    case 'limit':
    case 'sample':
    case 'distinct':
    case 'exchange':
      return of(plan.child);
    case 'project': {
      const child = of(plan.child);
      return plan.expressions.map(({ expression }) => isNeverNull(expression, child));
    }
    case 'join':
      return ofJoin(plan, of);
    case 'cross':
      return [...of(plan.left), ...of(plan.right)];
    case 'aggregate':
    case 'window':
    case 'unnest':
    case 'generator':
    case 'values':
    case 'oneRow':
    case 'empty':
    case 'positional':
    case 'delimScan':
    case 'union':
    case 'intersect':
    case 'except':
    case 'cte':
    case 'recursiveCte':
    case 'cteScan':
    case 'stage':
      return outputFields(plan).map(() => false);
    default:
      return unreachable(plan);
  }
}

function ofJoin(join: JoinPlan, of: (child: Plan) => readonly boolean[]): readonly boolean[] {
  const left = (): readonly boolean[] => pick(of(join.left), join.leftProjection);
  const right = (): readonly boolean[] => pick(of(join.right), join.rightProjection);
  switch (join.type) {
    case 'semi':
    case 'anti':
      return left();
    case 'rightSemi':
    case 'rightAnti':
      return right();
    case 'inner':
      return [...left(), ...right()];
    case 'left':
    case 'single':
      return [...left(), ...right().map(() => false)];
    case 'right':
      return [...left().map(() => false), ...right()];
    case 'full':
    case 'mark':
      return outputFields(join).map(() => false);
    default:
      return unreachable(join.type, 'join type');
  }
}

const pick = (columns: readonly boolean[], positions: readonly number[] | null): readonly boolean[] =>
  positions === null ? columns : positions.map((at) => columns[at] === true);

/** Whether an expression is NULL for no row of an input, of whose columns `columns` says the same. */
export function isNeverNull(expression: Expression, columns: readonly boolean[]): boolean {
  if (expression.kind === 'column') return columns[expression.index] === true;
  if (expression.kind === 'constant') return expression.value !== null;
  if (!isNumber(expressionType(expression))) return false;
  const areNumbers = (operands: readonly Expression[]): boolean =>
    operands.every((one) => isNumber(expressionType(one)) && isNeverNull(one, columns));
  if (expression.kind === 'cast') return !expression.tryCast && areNumbers([expression.child]);
  return expression.kind === 'function' && SUMS_AND_PRODUCTS.has(expression.name) && areNumbers(expression.children);
}

/** Functions of numbers that give a number or an error. */
const SUMS_AND_PRODUCTS: ReadonlySet<string> = new Set(['+', '-', '*', 'add', 'subtract', 'multiply']);
const NUMBERS: ReadonlySet<string> = new Set('TINYINT SMALLINT INTEGER BIGINT HUGEINT FLOAT DOUBLE'.split(' '));

const isNumber = (type: SqlType): boolean =>
  type.kind === 'decimal' || (type.kind === 'scalar' && NUMBERS.has(type.name));
