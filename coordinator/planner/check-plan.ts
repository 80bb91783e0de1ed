import { SkeinError } from '#shared/error.ts';
import { TABLE_FUNCTIONS } from '../resolver/function-policy.ts';
import { expressionsOf, walkExpression } from './expression-tree.ts';
import type { Expression } from './expression.ts';
import { outputFields } from './plan-schema.ts';
import { children, walkPlan } from './plan-tree.ts';
import type { Plan } from './plan.ts';
import { printSqlType, type SqlField } from './sql-type.ts';

/**
 * The gate again, over what DuckDB made of the query: rows come from our scans and from allow-listed generators, nothing else.
 * @throws NOT_SUPPORTED
 */
export function checkPlan(plan: Plan, scans: number): void {
  for (const node of walkPlan(plan)) {
    if (node.kind === 'generator' && !TABLE_FUNCTIONS.has(node.name)) {
      throw new SkeinError('NOT_SUPPORTED', `the table function ${node.name} is not served`);
    }
    if (node.kind === 'scan' && !(node.scan >= 0 && node.scan < scans)) {
      throw new SkeinError('NOT_SUPPORTED', 'the plan reads a table that the query does not name');
    }
  }
}

/**
 * That a rewrite kept the plan whole: the same number and types of columns, and every column reference within its input and of its type.
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
