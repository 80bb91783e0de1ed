import type { SqlText } from '#shared/task/sql-text.ts';
import { must, unreachable } from '#shared/must.ts';
import { printSqlExpression } from './print-sql-expression.ts';
import { NotPrintable } from './not-printable.ts';
import type { JoinPlan } from '../../plan/plan.ts';
import { operatorText } from '../../plan/print-expression.ts';
import { isUniqueOn } from './is-unique-on.ts';
import { sql } from './print-sql-parts.ts';
import {
  joinOf,
  operand,
  pickColumns,
  rightOf,
  selectFrom,
  untailed,
  wrapQuery,
  type Names,
  type SqlRelation,
} from './print-sql-relation.ts';

type Sides = { readonly left: SqlRelation; readonly right: SqlRelation };

/**
 * A join, as a relation or as a query. MARK becomes IN, ANY or EXISTS in the select list, which DuckDB makes a MARK join of again; SINGLE
 * a left join where the right side has one row for a key, else a scalar subquery, which raises at a second row.
 * @throws NotPrintable
 */
export function printSqlJoin(
  join: JoinPlan,
  sides: Sides,
  free: Names,
): { readonly relation: SqlRelation } | { readonly query: SqlText } {
  switch (join.type) {
    case 'inner':
    case 'left':
    case 'right':
    case 'full':
      return { relation: plainJoin(join, sides, join.type.toUpperCase(), free) };
    case 'semi':
    case 'anti':
      return { relation: halfJoin(join, sides, join.type, free) };
    case 'rightSemi':
    case 'rightAnti':
      return { relation: halfJoin(join, sides, join.type === 'rightSemi' ? 'semi' : 'anti', free) };
    case 'mark':
      return { query: markJoin(join, sides, free) };
    case 'single':
      return { relation: singleJoin(join, sides, free) };
    default:
      return unreachable(join.type, 'join type');
  }
}

const output = (join: JoinPlan, { left, right }: Sides): readonly string[] => [
  ...pickColumns(left.columns, join.leftProjection),
  ...pickColumns(right.columns, join.rightProjection),
];

function plainJoin(join: JoinPlan, sides: Sides, word: string, free: Names): SqlRelation {
  const left = operand(sides.left, free);
  const right = operand(sides.right, free);
  const on = conditions(join, { left, right });
  const asof = join.asof ? 'ASOF ' : '';
  return {
    ...joinOf(sql`${left.from} ${asof}${word} JOIN ${rightOf(right)} ON ${on}`),
    columns: output(join, { left, right }),
  };
}

/** SEMI and ANTI; the right-hand forms keep the rows of the right side. */
function halfJoin(join: JoinPlan, sides: Sides, type: 'semi' | 'anti', free: Names): SqlRelation {
  if (join.asof) throw new NotPrintable('an as-of semi join');
  const left = operand(sides.left, free);
  const right = operand(sides.right, free);
  const isRight = join.type === 'rightSemi' || join.type === 'rightAnti';
  const [kept, other] = isRight ? [right, left] : [left, right];
  return {
    ...joinOf(sql`${kept.from} ${type.toUpperCase()} JOIN ${rightOf(other)} ON ${conditions(join, { left, right })}`),
    columns: pickColumns(kept.columns, isRight ? join.rightProjection : join.leftProjection),
  };
}

function conditions(join: JoinPlan, { left, right }: Sides): string {
  const texts = join.conditions.map(
    (one) =>
      `${printSqlExpression(one.left, left.columns)} ${operatorText(one.op)} ${printSqlExpression(one.right, right.columns)}`,
  );
  if (join.residual !== null) texts.push(printSqlExpression(join.residual, [...left.columns, ...right.columns]));
  return texts.length === 0 ? 'true' : texts.map((text) => `(${text})`).join(' AND ');
}

/**
 * Conditions that treat NULLs as values (IS [NOT] DISTINCT FROM) select the rows that an outer row is compared with; the other conditions
 * are that comparison, which is three-valued.
 */
function markJoin(join: JoinPlan, sides: Sides, free: Names): SqlText {
  const left = operand(sides.left, free);
  const right = untailed(sides.right, free);
  const isExact = (op: string): boolean => op === 'notDistinct' || op === 'distinct';
  const exact = { ...join, conditions: join.conditions.filter(({ op }) => isExact(op)) };
  const compared = join.conditions.filter(({ op }) => !isExact(op));
  const [first] = compared;
  const where = exact.conditions.length === 0 && join.residual === null ? [] : [conditions(exact, { left, right })];
  const inner = { ...right, where: [...right.where, ...where] };
  const outerText = compared.map((one) => printSqlExpression(one.left, left.columns));
  const innerText = compared.map((one) => printSqlExpression(one.right, right.columns));
  let mark: SqlText;
  if (first === undefined) mark = sql`EXISTS (${selectFrom(inner, ['1'])})`;
  else if (join.residual !== null) throw new NotPrintable('a mark join with a condition over both sides');
  else if (compared.length === 1) {
    mark = sql`(${must(outerText[0], 'a compared value')} ${operatorText(first.op)} ANY (${selectFrom(inner, innerText)}))`;
  } else {
    if (compared.some(({ op }) => op !== 'eq')) throw new NotPrintable('a mark join that compares rows by order');
    mark = sql`((${outerText.join(', ')}) IN (${selectFrom(inner, innerText)}))`;
  }
  const columns = pickColumns(left.columns, join.leftProjection);
  const list = columns.map((column, i) => `${column} AS c${i}, `).join('');
  return sql`SELECT ${list}${mark} AS c${String(columns.length)} FROM ${left.from}`;
}

function singleJoin(join: JoinPlan, sides: Sides, free: Names): SqlRelation {
  if (join.asof) throw new NotPrintable('an as-of scalar subquery');
  const keys = join.conditions.flatMap(({ op, right }) =>
    (op === 'eq' || op === 'notDistinct') && right.kind === 'column' ? [right.index] : [],
  );
  if (isUniqueOn(join.right, new Set(keys))) return plainJoin(join, sides, 'LEFT', free);
  const left = operand(sides.left, free);
  const right = untailed(sides.right, free);
  const kept = pickColumns(right.columns, join.rightProjection);
  const inner = { ...right, where: [...right.where, conditions(join, { left, right })] };
  const fields = kept.map((column, i) => `c${i} := ${column}`).join(', ');
  const value = selectFrom(inner, [kept.length === 0 ? '1' : `struct_pack(${fields})`]);
  const columns = pickColumns(left.columns, join.leftProjection);
  const list = columns.map((column, i) => `${column} AS c${i}, `).join('');
  const query = sql`SELECT ${list}(${value}) AS c${String(columns.length)} FROM ${left.from}`;
  const relation = wrapQuery(query, columns.length + 1, free);
  const struct = must(relation.columns.at(-1), 'the subquery');
  return {
    ...relation,
    columns: [...relation.columns.slice(0, -1), ...kept.map((_, i) => `struct_extract(${struct}, 'c${i}')`)],
  };
}
