import { must, unreachable } from '#shared/must.ts';
import { outputFields } from './plan-schema.ts';
import type { Expression } from './expression.ts';
import type { JoinPlan, Plan } from './plan.ts';

/** A column of one of the statement's tables: positions in the statement's scans, and in the table's column list. */
export type ColumnOrigin = { readonly scan: number; readonly column: number };

/**
 * The columns of tables whose values an output column of a plan has as they are: none for what is computed, several for a set operation,
 * all of whose inputs have to be such columns.
 */
export const columnOrigins = (plan: Plan, output: number): readonly ColumnOrigin[] =>
  originsIn(plan, output, new Map());

/** The definitions of the common table expressions around a node, by their index. */
type Definitions = ReadonlyMap<number, Plan>;

function originsIn(plan: Plan, output: number, ctes: Definitions): readonly ColumnOrigin[] {
  switch (plan.kind) {
    case 'scan':
      return [{ scan: plan.scan, column: must(plan.columns[output], 'a column of the scan').index }];
    case 'filter':
    case 'sort':
      return originsIn(plan.child, picked(plan.projection, output), ctes);
    case 'limit':
    case 'sample':
    case 'distinct':
    case 'exchange':
      return originsIn(plan.child, output, ctes);
    case 'project':
      return ofExpression(plan.child, plan.expressions[output]?.expression, ctes);
    case 'aggregate':
      // A group of several sets is NULL in the rows of the others, which is no other value.
      return ofExpression(plan.child, plan.groups[output], ctes);
    case 'window':
    case 'unnest':
      return output < outputFields(plan.child).length ? originsIn(plan.child, output, ctes) : [];
    case 'join':
      return ofJoin(plan, output, ctes);
    case 'cross':
    case 'positional':
      return ofPair(plan.left, plan.right, output, ctes);
    case 'union':
    case 'intersect':
    case 'except':
      return ofAll(plan.children, output, ctes);
    case 'cte':
      return originsIn(plan.body, output, new Map([...ctes, [plan.index, plan.definition]]));
    case 'cteScan': {
      const definition = ctes.get(plan.index);
      return definition === undefined ? [] : originsIn(definition, output, ctes);
    }
    case 'generator':
    case 'values':
    case 'oneRow':
    case 'empty':
    case 'delimScan':
    case 'recursiveCte':
    case 'stage':
      return [];
    default:
      return unreachable(plan);
  }
}

const picked = (projection: readonly number[] | null, output: number): number =>
  projection === null ? output : must(projection[output], 'a projected column');

const ofExpression = (child: Plan, expression: Expression | undefined, ctes: Definitions): readonly ColumnOrigin[] =>
  expression?.kind === 'column' ? originsIn(child, expression.index, ctes) : [];

function ofPair(left: Plan, right: Plan, output: number, ctes: Definitions): readonly ColumnOrigin[] {
  const width = outputFields(left).length;
  return output < width ? originsIn(left, output, ctes) : originsIn(right, output - width, ctes);
}

function ofJoin(join: JoinPlan, output: number, ctes: Definitions): readonly ColumnOrigin[] {
  const fromLeft = (at: number): readonly ColumnOrigin[] => originsIn(join.left, picked(join.leftProjection, at), ctes);
  const fromRight = (at: number): readonly ColumnOrigin[] =>
    originsIn(join.right, picked(join.rightProjection, at), ctes);
  if (join.type === 'rightSemi' || join.type === 'rightAnti') return fromRight(output);
  const width = join.leftProjection?.length ?? outputFields(join.left).length;
  if (output < width) return fromLeft(output);
  return join.type === 'mark' ? [] : fromRight(output - width);
}

function ofAll(children: readonly Plan[], output: number, ctes: Definitions): readonly ColumnOrigin[] {
  const found = children.map((child) => originsIn(child, output, ctes));
  return found.every((origins) => origins.length > 0) ? found.flat() : [];
}
