import { must, unreachable } from '#shared/must.ts';
import type { Expression } from './expression.ts';
import type { JoinPlan, Plan } from './plan.ts';
import type { SqlField, SqlType } from './sql-type.ts';

const BOOLEAN: SqlType = { kind: 'scalar', name: 'BOOLEAN' };
const BIGINT: SqlType = { kind: 'scalar', name: 'BIGINT' };
const INTEGER: SqlType = { kind: 'scalar', name: 'INTEGER' };

/** The columns that a node gives, in the order that expressions above refer to. Names are for people, and may be empty. */
export function outputFields(plan: Plan): readonly SqlField[] {
  switch (plan.kind) {
    case 'scan':
    case 'values':
    case 'empty':
    case 'delimScan':
    case 'cteScan':
    case 'stage':
      return plan.columns;
    case 'generator':
      return [...plan.columns, ...(plan.child === null ? [] : pick(outputFields(plan.child), plan.inputColumns))];
    case 'oneRow':
      // In DuckDB the row without columns has one column.
      return [{ name: '', type: INTEGER }];
    case 'filter':
    case 'sort':
      return pick(outputFields(plan.child), plan.projection);
    case 'project':
      return plan.expressions.map(({ name, expression }) => ({ name, type: expressionType(expression) }));
    case 'aggregate':
      return [
        ...plan.groups.map(expressionField),
        ...plan.aggregates.map(({ name, type }) => ({ name, type })),
        ...plan.groupings.map(() => ({ name: 'grouping', type: BIGINT })),
      ];
    case 'window':
      return [...outputFields(plan.child), ...plan.calls.map(({ name, type }) => ({ name, type }))];
    case 'unnest':
      return [...outputFields(plan.child), ...plan.expressions.map(expressionField)];
    case 'distinct':
    case 'limit':
    case 'sample':
    case 'exchange':
      return outputFields(plan.child);
    case 'join':
      return joinFields(plan);
    case 'cross':
    case 'positional':
      return [...outputFields(plan.left), ...outputFields(plan.right)];
    case 'union':
    case 'intersect':
    case 'except':
      return outputFields(must(plan.children[0], 'a set operation has inputs'));
    case 'cte':
      return outputFields(plan.body);
    case 'recursiveCte':
      return outputFields(plan.anchor);
    default:
      return unreachable(plan);
  }
}

function joinFields(join: JoinPlan): readonly SqlField[] {
  const left = (): readonly SqlField[] => pick(outputFields(join.left), join.leftProjection);
  const right = (): readonly SqlField[] => pick(outputFields(join.right), join.rightProjection);
  switch (join.type) {
    case 'semi':
    case 'anti':
      return left();
    case 'rightSemi':
    case 'rightAnti':
      return right();
    case 'mark':
      return [...left(), { name: 'mark', type: BOOLEAN }];
    case 'inner':
    case 'left':
    case 'right':
    case 'full':
    case 'single':
      return [...left(), ...right()];
    default:
      return unreachable(join.type, 'join type');
  }
}

const pick = (fields: readonly SqlField[], positions: readonly number[] | null): readonly SqlField[] =>
  positions === null ? fields : positions.map((at) => must(fields[at], 'a projected column'));

const expressionField = (expression: Expression): SqlField => ({
  name: expression.kind === 'column' ? expression.name : '',
  type: expressionType(expression),
});

/** The type of an expression's values. */
export function expressionType(expression: Expression): SqlType {
  switch (expression.kind) {
    case 'compare':
    case 'and':
    case 'or':
    case 'between':
    case 'not':
    case 'isNull':
    case 'isNotNull':
    case 'in':
      return BOOLEAN;
    case 'aggregate':
    case 'window':
      return expression.call.type;
    case 'column':
    case 'constant':
    case 'operator':
    case 'function':
    case 'cast':
    case 'case':
    case 'unnest':
      return expression.type;
    default:
      return unreachable(expression);
  }
}
