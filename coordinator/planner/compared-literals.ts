import { FLIPPED, type CompareOp } from '#shared/iceberg/predicate.ts';
import { int64, type Json } from '#shared/json.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { columnsRead, conjuncts } from '../plan/expression-tree.ts';
import type { Expression } from '../plan/expression.ts';
import type { Plan } from '../plan/plan.ts';
import { mapChildren, walkPlan } from '../plan/plan-tree.ts';
import type { SqlType } from '../plan/sql-type.ts';

/** A literal of a query's text that a column is compared with; the name is folded. */
export type ColumnLiteral = { readonly column: string; readonly op: CompareOp; readonly value: bigint | string };

type Constant = Extract<Expression, { readonly kind: 'constant' }>;
type Compare = Extract<Expression, { readonly kind: 'compare' }>;

/** The constants of a plan that stand for literals of its text, one for each. */
export type LiteralPlaces = readonly Constant[];

/**
 * Finds the constants that literals have become in a plan. Null when the plan may have used the value of one: each must stand at one place
 * only, in a condition of its own over a scan, and no other condition there reads the column, because the optimiser compares the bounds of
 * a column with each other.
 *
 *     WHERE a = 17 AND b < 'x'        FILTER a = 17 AND b < 'x'
 *                                       SCAN 0
 */
export function literalPlaces(plan: Plan, literals: readonly ColumnLiteral[]): LiteralPlaces | null {
  const compared = [...walkPlan(plan)].flatMap(comparedColumns);
  const everywhere = constantsIn(plan);
  const places = literals.map((literal) => {
    const isSame = (constant: Constant): boolean => isValue(constant, literal.value);
    const here = compared.filter(
      (one) => one.column === literal.column && one.op === literal.op && isSame(one.constant),
    );
    const [place] = here;
    const isOne = here.length === 1 && everywhere.filter(isSame).length === 1;
    return place !== undefined && isOne && constantOf(place.constant.type, literal.value) !== null
      ? place.constant
      : null;
  });
  return places.every((place) => place !== null) ? places : null;
}

/** The plan with other literals at these places; null when one is not of the type that its column is compared in. */
export function withLiterals(plan: Plan, places: LiteralPlaces, literals: readonly ColumnLiteral[]): Plan | null {
  const constants = new Map<Expression, Constant>();
  for (const [i, place] of places.entries()) {
    const value = literals[i] === undefined ? null : constantOf(place.type, literals[i].value);
    if (value === null) return null;
    constants.set(place, { ...place, value });
  }
  const replaced = (one: Expression): Expression => {
    if (one.kind === 'and') return { ...one, children: one.children.map(replaced) };
    if (one.kind !== 'compare') return one;
    return { ...one, left: constants.get(one.left) ?? one.left, right: constants.get(one.right) ?? one.right };
  };
  const visit = (node: Plan): Plan => {
    const same = mapChildren(node, visit);
    return same.kind === 'filter' ? { ...same, conditions: same.conditions.map(replaced) } : same;
  };
  return visit(plan);
}

type ComparedColumn = { readonly column: string; readonly op: CompareOp; readonly constant: Constant };

/** The columns that a filter over a scan compares with a constant, and reads in no other condition. */
function comparedColumns(node: Plan): readonly ComparedColumn[] {
  if (node.kind !== 'filter' || node.child.kind !== 'scan') return [];
  const conditions = node.conditions.flatMap(conjuncts);
  const readers = conditions.map(columnsRead);
  return conditions.flatMap((condition) => {
    const compared = condition.kind === 'compare' ? comparedColumn(condition) : null;
    if (compared === null) return [];
    const { index, name, op, constant } = compared;
    const isAlone = readers.filter((columns) => columns.has(index)).length === 1;
    return isAlone ? [{ column: foldIdentifier(name), op, constant }] : [];
  });
}

function comparedColumn({ left, op, right }: Compare) {
  if (op === 'distinct' || op === 'notDistinct') return null;
  if (left.kind === 'column' && right.kind === 'constant') {
    return { index: left.index, name: left.name, op, constant: right };
  }
  if (left.kind === 'constant' && right.kind === 'column') {
    return { index: right.index, name: right.name, op: FLIPPED[op], constant: left };
  }
  return null;
}

/** Every constant of a plan, wherever it stands. */
function constantsIn(plan: Plan): readonly Constant[] {
  const found: Constant[] = [];
  const open: unknown[] = [plan];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    if ('kind' in next && next.kind === 'constant') found.push(next as Constant);
    for (const value of Object.values(next)) if (typeof value === 'object' && value !== null) open.push(value);
  }
  return found;
}

/** Whether a constant may stand for a literal, whatever its type: a number or text as it is written, or a date's number of days. */
function isValue({ value, type }: Constant, literal: bigint | string): boolean {
  if (typeof literal === 'bigint') return int64(value) === literal;
  return value === literal || (value !== null && value === constantOf(type, literal));
}

const INTEGER_BITS: Readonly<Record<string, number>> = { TINYINT: 8, SMALLINT: 16, INTEGER: 32, BIGINT: 64 };

/** A literal as a constant of a column's own type; null when DuckDB would compare it in another. */
function constantOf(type: SqlType, value: bigint | string): Json {
  const name = type.kind === 'scalar' ? type.name : '';
  if (typeof value === 'string') return name === 'VARCHAR' ? value : name === 'DATE' ? daysOf(value) : null;
  const bits = INTEGER_BITS[name];
  if (bits === undefined || value >= 2n ** BigInt(bits - 1)) return null;
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;
}

const DAY_MS = 86_400_000;

/** Days since 1970 of a date as ISO 8601 writes it, in the years 1000 to 9999; null for any other text. */
function daysOf(text: string): number | null {
  if (!/^[1-9]\d{3}-\d\d-\d\d$/.test(text)) return null;
  const ms = Date.parse(`${text}T00:00:00Z`);
  return Number.isNaN(ms) || !new Date(ms).toISOString().startsWith(text) ? null : ms / DAY_MS;
}
