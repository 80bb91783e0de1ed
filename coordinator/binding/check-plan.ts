import { SkeinError } from '#shared/error.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { TABLE_FUNCTIONS } from './function-policy.ts';
import { expressionsOf, walkExpression } from '../plan/expression-tree.ts';
import type { Expression } from '../plan/expression.ts';
import { outputFields } from '../plan/plan-schema.ts';
import { children, walkPlan } from '../plan/plan-tree.ts';
import type { Plan } from '../plan/plan.ts';
import { printSqlType, type SqlField } from '../plan/sql-type.ts';

/**
 * Repeats the gate's check on the plan that DuckDB made: all rows come from our scans and from allow-listed generators.
 * @throws NOT_SUPPORTED
 */
export const checkPlan = (plan: Plan, scans: number): void => checkSources(planSources(plan), scans);

/** The row sources of a plan: numbers of scans and names of generators, each once. */
export type PlanSources = { readonly scans: readonly number[]; readonly generators: readonly string[] };

export function planSources(plan: Plan): PlanSources {
  const scans = new Set<number>();
  const generators = new Set<string>();
  for (const node of walkPlan(plan)) {
    if (node.kind === 'generator') generators.add(node.name);
    if (node.kind === 'scan') scans.add(node.scan);
  }
  return { scans: [...scans], generators: [...generators] };
}

/** Checks the row sources of a plan, as `checkPlan` does. @throws NOT_SUPPORTED */
export function checkSources({ scans: read, generators }: PlanSources, scans: number): void {
  const foreign = generators.find((name) => !TABLE_FUNCTIONS.has(name));
  if (foreign !== undefined) throw new SkeinError('NOT_SUPPORTED', `the table function ${foreign} is not served`);
  if (!read.every((scan) => scan >= 0 && scan < scans)) {
    throw new SkeinError('NOT_SUPPORTED', 'the plan reads a table that the query does not name');
  }
}

/** Operators of a plan as bound that make rows of their inputs' rows, of constants or of nothing. */
const PURE_OPERATORS: ReadonlySet<string> = new Set([
  'AGGREGATE',
  'ANY_JOIN',
  'ASOF_JOIN',
  'COMPARISON_JOIN',
  'CROSS_PRODUCT',
  'CTE',
  'CTE_SCAN',
  'DELIM_GET',
  'DELIM_JOIN',
  'DEPENDENT_JOIN',
  'DISTINCT',
  'DUMMY_SCAN',
  'EMPTY_RESULT',
  'EXCEPT',
  'EXPRESSION_GET',
  'FILTER',
  'INTERSECT',
  'LIMIT',
  'ORDER_BY',
  'PIVOT',
  'POSITIONAL_JOIN',
  'PROJECTION',
  'REC_CTE',
  'SAMPLE',
  'TOP_N',
  'UNION',
  'UNNEST',
  'WINDOW',
]);

/**
 * The same check for a plan that has no printed form, by the names of its operators. Each must be an operator that reads nothing, one of
 * our scans, or an allow-listed generator; an unknown name is refused.
 * @throws NOT_SUPPORTED
 */
export function checkOperators(operators: readonly string[]): void {
  const isServed = (name: string): boolean =>
    PURE_OPERATORS.has(name) || name === 'SKEIN_SCAN' || TABLE_FUNCTIONS.has(foldIdentifier(name));
  const foreign = operators.find((name) => !isServed(name));
  if (foreign !== undefined) throw new SkeinError('NOT_SUPPORTED', `a plan with ${foreign} is not served`);
  if (operators.length === 0) throw new SkeinError('NOT_SUPPORTED', 'the plan of the query cannot be checked');
}

/**
 * Checks that a rewrite kept the plan valid: the same number and types of columns, and every column reference within its input and of its
 * type.
 * @throws Error that names the pass.
 */
export function checkColumns(plan: Plan, before: Plan, pass: string): void {
  const fail = (what: string): never => {
    throw new Error(`invariant: after ${pass} ${what}`);
  };
  const types = (node: Plan): string =>
    outputFields(node)
      .map(({ type }) => printSqlType(type))
      .join();
  if (types(plan) !== types(before)) fail(`the columns are ${types(plan)}, not ${types(before)}`);
  for (const node of walkPlan(plan)) {
    if (node.kind === 'join') {
      for (const { left, right } of node.conditions) {
        checkExpression(left, outputFields(node.left), fail);
        checkExpression(right, outputFields(node.right), fail);
      }
      const both = [...outputFields(node.left), ...outputFields(node.right)];
      if (node.residual !== null) checkExpression(node.residual, both, fail);
      continue;
    }
    const [input] = children(node);
    const fields = input === undefined ? [] : outputFields(input);
    for (const expression of expressionsOf(node)) checkExpression(expression, fields, fail);
  }
}

function checkExpression(expression: Expression, fields: readonly SqlField[], fail: (what: string) => never): void {
  for (const one of walkExpression(expression)) {
    if (one.kind !== 'column') continue;
    const field = fields[one.index];
    if (field === undefined) return fail(`column ${one.index} of ${fields.length} is read`);
    if (printSqlType(field.type) !== printSqlType(one.type)) {
      return fail(`column ${one.index} is ${printSqlType(field.type)}, not ${printSqlType(one.type)}`);
    }
  }
}
