import { isAddressId } from '#shared/iceberg/address-columns.ts';
import { FLIPPED, type CompareOp, type Predicate } from '#shared/iceberg/predicate.ts';
import type { Field } from '#shared/iceberg/type.ts';
import { unreachable } from '#shared/must.ts';
import { compareColumn, type FilterColumn } from './comparable-literal.ts';
import { conjuncts } from './expression-tree.ts';
import type { Expression } from './expression.ts';
import type { JoinPlan, Plan, PlanColumn } from './plan.ts';
import { outputFields } from './plan-schema.ts';
import { children } from './plan-tree.ts';
import type { SqlType } from './sql-type.ts';

/**
 * The predicate and columns that a plan reads of one scan. A scan that occurs several times in the plan (an inlined CTE) is read once for
 * all of them.
 */
export type ScanUse = {
  readonly predicate: Predicate;
  readonly readFieldIds: readonly number[];
  /** Any so many rows of it will do; absent = all are read. */
  readonly rowsMax?: number;
};

/** A column of a table; conditions over one that is masked are about other values than those in the files. */
export type ReadField = Field & { readonly isMasked?: boolean };

const TRUE: Predicate = { kind: 'true' };

/**
 * Returns, for every scan, a predicate that its filters imply (never stronger than they are) and the columns that are read.
 *
 *     FILTER a > 3 AND b LIKE 'x%' AND a + c = 2        scan 0: a > 3 AND b startsWith 'x'
 *       SCAN 0
 *
 * A condition counts when it stands over the scan with nothing but filters, projections and IN lists between them; DuckDB's optimiser
 * brings it there. Conditions over joins, limits, windows and aggregates say nothing of single rows of a scan.
 */
export function scanUses(plan: Plan, schemas: readonly (readonly ReadField[])[]): ScanUse[] {
  const found = schemas.map(() => ({ predicates: [] as Predicate[], fieldIds: new Set<number>(), rowsMax: 0 }));
  const visit = (node: Plan, conditions: readonly Expression[], rowsMax: number): void => {
    if (node.kind === 'scan') {
      const use = found[node.scan];
      const columns = filterColumns(node.columns, schemas[node.scan] ?? []);
      for (const { index } of node.columns) {
        const id = schemas[node.scan]?.[index]?.id;
        if (id !== undefined) use?.fieldIds.add(id);
      }
      if (use !== undefined) use.rowsMax = Math.max(use.rowsMax, rowsMax);
      use?.predicates.push(allOf(conditions.map((condition) => predicateOf(condition, columns))));
      return;
    }
    for (const [child, below] of conditionsBelow(node, conditions)) visit(child, below, rowsBelow(node, rowsMax));
  };
  visit(plan, [], Infinity);
  return found.map(({ predicates, fieldIds, rowsMax }) => ({
    // The statement's own text may read a scan that the plan does not contain.
    predicate: predicates.length === 0 ? TRUE : anyOf(predicates),
    readFieldIds: [...fieldIds],
    ...(predicates.length === 0 || rowsMax === Infinity ? {} : { rowsMax }),
  }));
}

/** How many rows of its child a node reads at most, when so many of its own are wanted. */
function rowsBelow(node: Plan, rowsMax: number): number {
  if (node.kind === 'project' && node.expressions.every(({ expression }) => expression.kind === 'column'))
    return rowsMax;
  if (node.kind !== 'limit' || node.limit.kind !== 'rows') return Infinity;
  if (node.offset.kind === 'none') return Math.min(rowsMax, node.limit.rows);
  return node.offset.kind === 'rows' ? node.limit.rows + node.offset.rows : Infinity;
}

const filterColumns = (columns: readonly PlanColumn[], fields: readonly ReadField[]): (FilterColumn | null)[] =>
  columns.map(({ index }) => {
    const field = fields[index];
    // Statistics of a file say nothing of the addresses of its rows.
    if (field === undefined || field.isMasked === true) return null;
    return isAddressId(field.id) ? null : { fieldId: field.id, type: field.type };
  });

/** Returns each child with the conditions that hold for its rows, in terms of its columns. */
function conditionsBelow(node: Plan, conditions: readonly Expression[]): (readonly [Plan, readonly Expression[]])[] {
  if (node.kind === 'filter') {
    const { projection } = node;
    const above = projection === null ? conditions : rebase(conditions, (index) => projection[index] ?? null);
    return [[node.child, [...node.conditions.flatMap(conjuncts), ...above]]];
  }
  if (node.kind === 'project') {
    const { expressions } = node;
    const below = rebase(conditions, (index) => {
      const expression = expressions[index]?.expression;
      return expression?.kind === 'column' ? expression.index : null;
    });
    return [[node.child, below]];
  }
  if (node.kind === 'join') return joinConditions(node, conditions);
  return children(node).map((child) => [child, []] as const);
}

/**
 * The optimiser turns an IN list of constants into a semi join, or a mark join with a filter on the mark: this turns it back into a
 * condition on the left side.
 */
function joinConditions(join: JoinPlan, conditions: readonly Expression[]): (readonly [Plan, readonly Expression[]])[] {
  const nothing = [
    [join.left, []],
    [join.right, []],
  ] as const;
  const [condition] = join.conditions;
  const isList = join.right.kind === 'values' && join.right.child === null && join.conditions.length === 1;
  if (!isList || join.residual !== null || join.leftProjection !== null || condition?.op !== 'eq') return [...nothing];
  if (condition.right.kind !== 'column' || condition.right.index !== 0 || join.right.kind !== 'values')
    return [...nothing];
  const list = join.right.rows.flatMap((row) => row.slice(0, 1));
  const inList: Expression = { kind: 'in', negated: false, input: condition.left, list };
  const width = outputFields(join.left).length;
  const ofLeft = rebase(conditions, (index) => (index < width ? index : null));
  const isMarked = conditions.some((one) => one.kind === 'column' && one.index === width);
  if (join.type === 'semi' || (join.type === 'mark' && isMarked)) {
    return [
      [join.left, [...ofLeft, inList]],
      [join.right, []],
    ];
  }
  return [...nothing];
}

/** Rewrites the column positions of conditions; drops those that use a column without a new position. */
function rebase(conditions: readonly Expression[], position: (index: number) => number | null): Expression[] {
  return conditions.flatMap((condition) => {
    const moved = rebaseOne(condition, position);
    return moved === null ? [] : [moved];
  });
}

/** Rewrites the forms that `predicateOf` reads; returns null for any other, and the condition is then dropped. */
function rebaseOne(expression: Expression, position: (index: number) => number | null): Expression | null {
  const all = (list: readonly Expression[]): readonly Expression[] | null => {
    const moved = list.map((one) => rebaseOne(one, position));
    return moved.every((one) => one !== null) ? moved : null;
  };
  switch (expression.kind) {
    case 'column': {
      const index = position(expression.index);
      return index === null ? null : { ...expression, index };
    }
    case 'constant':
      return expression;
    case 'compare': {
      const sides = all([expression.left, expression.right]);
      return sides?.[0] && sides[1] ? { ...expression, left: sides[0], right: sides[1] } : null;
    }
    case 'and':
    case 'or':
    case 'function': {
      const moved = all(expression.children);
      return moved === null ? null : { ...expression, children: moved };
    }
    case 'between': {
      const moved = all([expression.input, expression.lower, expression.upper]);
      const [input, lower, upper] = moved ?? [];
      return input && lower && upper ? { ...expression, input, lower, upper } : null;
    }
    case 'in': {
      const moved = all([expression.input, ...expression.list]);
      const [input, ...list] = moved ?? [];
      return input ? { ...expression, input, list } : null;
    }
    case 'not':
    case 'isNull':
    case 'isNotNull':
    case 'cast': {
      const child = rebaseOne(expression.child, position);
      return child === null ? null : { ...expression, child };
    }
    case 'operator':
    case 'aggregate':
    case 'window':
    case 'case':
    case 'unnest':
      return null;
    default:
      return unreachable(expression);
  }
}

type Columns = readonly (FilterColumn | null)[];

function predicateOf(condition: Expression, columns: Columns): Predicate {
  switch (condition.kind) {
    case 'and':
      return allOf(condition.children.map((child) => predicateOf(child, columns)));
    case 'or':
      return anyOf(condition.children.map((child) => predicateOf(child, columns)));
    case 'compare':
      return comparePredicate(condition, columns);
    case 'between':
      return allOf([
        compareSides(condition.input, condition.lowerInclusive ? 'ge' : 'gt', condition.lower, columns),
        compareSides(condition.input, condition.upperInclusive ? 'le' : 'lt', condition.upper, columns),
      ]);
    case 'in':
      return inPredicate(condition, columns);
    case 'isNull':
    case 'isNotNull': {
      const column = columnUnder(condition.child, columns);
      // A cast may raise an error, and TRY_CAST gives NULL for a value that is not NULL.
      if (column === null || column.casts.length > 0) return TRUE;
      return { kind: condition.kind === 'isNull' ? 'isNull' : 'notNull', fieldId: column.fieldId };
    }
    case 'column':
    case 'not':
      return booleanPredicate(condition, columns);
    case 'function':
      return prefixPredicate(condition, columns);
    case 'constant':
    case 'operator':
    case 'aggregate':
    case 'window':
    case 'cast':
    case 'case':
    case 'unnest':
      return TRUE;
    default:
      return unreachable(condition);
  }
}

function comparePredicate(condition: Extract<Expression, { kind: 'compare' }>, columns: Columns): Predicate {
  if (condition.op === 'distinct') return TRUE;
  const op = condition.op === 'notDistinct' ? 'eq' : condition.op;
  if (condition.left.kind === 'constant') return compareSides(condition.right, FLIPPED[op], condition.left, columns);
  return compareSides(condition.left, op, condition.right, columns);
}

function compareSides(input: Expression, op: CompareOp, constant: Expression, columns: Columns): Predicate {
  const column = columnUnder(input, columns);
  return column === null ? TRUE : compareColumn(column, column.casts, op, constant);
}

function inPredicate({ negated, input, list }: Extract<Expression, { kind: 'in' }>, columns: Columns): Predicate {
  if (negated) return TRUE;
  const column = columnUnder(input, columns);
  if (column === null || !list.every((one) => one.kind === 'constant')) return TRUE;
  // NULL in the list never makes IN true.
  const values = list.filter((one) => one.kind === 'constant' && one.value !== null);
  const each = values.map((value) => compareColumn(column, column.casts, 'eq', value));
  const literals = each.flatMap((one) => (one.kind === 'compare' ? [one.value] : []));
  return each.every((one) => one.kind === 'compare' || one.kind === 'false')
    ? { kind: 'in', fieldId: column.fieldId, values: literals }
    : TRUE;
}

function booleanPredicate(condition: Expression, columns: Columns): Predicate {
  const operand = condition.kind === 'not' ? condition.child : condition;
  const column = operand.kind === 'column' ? (columns[operand.index] ?? null) : null;
  if (column?.type.kind !== 'boolean') return TRUE;
  return { kind: 'compare', op: 'eq', fieldId: column.fieldId, value: condition.kind !== 'not' };
}

/** `prefix(c, 'ab')` and `c LIKE 'ab%...'`, which has no escape character unless one is named. */
function prefixPredicate(
  { name, children: [input, pattern] }: Extract<Expression, { kind: 'function' }>,
  columns: Columns,
): Predicate {
  if (input?.kind !== 'column' || pattern?.kind !== 'constant' || typeof pattern.value !== 'string') return TRUE;
  const column = columns[input.index] ?? null;
  if (column?.type.kind !== 'string') return TRUE;
  const isLike = name === '~~';
  if (!isLike && name !== 'prefix' && name !== 'starts_with' && name !== '^@') return TRUE;
  const prefix = isLike ? (/^[^%_]*/.exec(pattern.value)?.[0] ?? '') : pattern.value;
  return prefix === '' ? TRUE : { kind: 'startsWith', fieldId: column.fieldId, prefix };
}

/** The column below casts. Such a cast gives the same value, an error or, with TRY, NULL. */
function columnUnder(
  expression: Expression,
  columns: Columns,
): (FilterColumn & { readonly casts: readonly SqlType[] }) | null {
  const casts: SqlType[] = [];
  let at = expression;
  for (; at.kind === 'cast' && !at.tryCast; at = at.child) casts.unshift(at.type);
  const column = at.kind === 'column' ? (columns[at.index] ?? null) : null;
  return column === null ? null : { ...column, casts };
}

function allOf(predicates: readonly Predicate[]): Predicate {
  const parts = predicates
    .filter((one) => one.kind !== 'true')
    .flatMap((one) => (one.kind === 'and' ? one.children : [one]));
  const [first = TRUE, ...others] = parts;
  if (others.length === 0) return first;
  return parts.find((one) => one.kind === 'false') ?? { kind: 'and', children: parts };
}

function anyOf(predicates: readonly Predicate[]): Predicate {
  if (predicates.some((one) => one.kind === 'true')) return TRUE;
  const parts = predicates
    .filter((one) => one.kind !== 'false')
    .flatMap((one) => (one.kind === 'or' ? one.children : [one]));
  const [first = { kind: 'false' } satisfies Predicate, ...others] = parts;
  return others.length === 0 ? first : { kind: 'or', children: parts };
}
