import { must } from '#shared/must.ts';
import { columnsRead, expressionKey, moveColumns } from '../../planner/expression-tree.ts';
import type { Expression } from '../../planner/expression.ts';
import type { Plan } from '../../planner/plan.ts';
import type { SqlType } from '../../planner/sql-type.ts';
import { isOrderSensitive } from './order-sensitive.ts';

/** A node with its place: what of its rows a task of the fragment has. */
export type Placed = {
  /** The node of the plan that is distributed. */
  readonly source: Plan;
  /** The same with exchanges, reads and join distributions. */
  readonly plan: Plan;
  readonly tasks: Tasks;
};

export type Tasks =
  /** One task has all rows; `everywhere`: any number of tasks would each have the same. */
  | { readonly kind: 'one'; readonly everywhere: boolean }
  /** Each task has some rows, by the files and outputs that it gets. */
  | { readonly kind: 'splits' }
  /**
   * Each of `count` tasks has the rows of its partition; `keys` null: nobody knows any more by what. `nullsSpread`: rows with a NULL key
   * are anywhere.
   */
  | {
      readonly kind: 'partitions';
      readonly count: number;
      readonly keys: Keys | null;
      readonly nullsSpread: boolean;
    };

/** What rows were hashed by: for every key, expressions over the node's columns that equal it in every row. */
export type Keys = readonly (readonly Expression[])[];

export const EVERYWHERE: Tasks = { kind: 'one', everywhere: true };
export const ONE: Tasks = { kind: 'one', everywhere: false };

/** A node whose rows depend on their order is computed once, not by every task. */
export const placeOf = (node: Plan, tasks: Tasks): Tasks =>
  tasks.kind === 'one' && isOrderSensitive(node) ? ONE : tasks;

/** The same place for a node above that keeps every row in its task. `move` gives a key over the node's columns, or null. */
export function movedTasks(tasks: Tasks, move: (key: Expression) => Expression | null): Tasks {
  if (tasks.kind !== 'partitions' || tasks.keys === null) return tasks;
  return { ...tasks, keys: moveKeys(tasks.keys, (key) => [move(key)]) };
}

/** Null when a key has no expression left. */
export function moveKeys(keys: Keys, move: (key: Expression) => readonly (Expression | null)[]): Keys | null {
  const moved = keys.map((same) => same.flatMap(move).filter((one) => one !== null));
  return moved.every((same) => same.length > 0) ? moved : null;
}

/** A key over the columns that a projection picks; a computed column that equals the key stands for it. */
export function throughProjection(expressions: readonly Expression[]): (key: Expression) => Expression | null {
  const byKey = new Map(expressions.map((expression, at) => [expressionKey(expression), at]));
  return (key) => {
    const at = byKey.get(expressionKey(key));
    if (at !== undefined) return columnAt(expressions, at);
    return moveColumns(key, (index) => {
      const picked = expressions.findIndex((one) => one.kind === 'column' && one.index === index);
      return picked < 0 ? null : picked;
    });
  };
}

function columnAt(expressions: readonly Expression[], index: number): Expression {
  const expression = must(expressions[index], 'a projected expression');
  return { kind: 'column', index, name: '', type: typeOfKey(expression) };
}

/** Keys are columns, or expressions that carry their type; a comparison is BOOLEAN. */
export const typeOfKey = (expression: Expression): SqlType =>
  'type' in expression ? expression.type : { kind: 'scalar', name: 'BOOLEAN' };

/** For nodes that pick columns by position (null = all). */
export const throughPositions =
  (positions: readonly number[] | null) =>
  (key: Expression): Expression | null =>
    positions === null
      ? key
      : moveColumns(key, (index) => (positions.includes(index) ? positions.indexOf(index) : null));

/** Whether rows that are equal by `required` are in one task: every key is one of those. */
export function isTogether(tasks: Tasks, required: readonly Expression[]): boolean {
  if (tasks.kind === 'one') return true;
  if (tasks.kind !== 'partitions' || tasks.keys === null || tasks.nullsSpread) return false;
  const wanted = new Set(required.map(expressionKey));
  return tasks.keys.every((same) => same.some((key) => wanted.has(expressionKey(key))));
}

/** Types whose equal values have equal hashes, and that are worth a hash. */
export function isHashable(expression: Expression): boolean {
  const type = typeOfKey(expression);
  if (type.kind === 'scalar') return !UNHASHABLE.has(type.name);
  return type.kind === 'decimal' || type.kind === 'enum';
}

/** INTERVALs of one length, TIMETZs of one instant are equal and look different; the others nobody groups by. */
const UNHASHABLE: ReadonlySet<string> = new Set([
  'INTERVAL',
  'TIME WITH TIME ZONE',
  'TIMETZ',
  'VARIANT',
  'GEOMETRY',
  'BIGNUM',
  'JSON',
  '"NULL"',
  'ANY',
]);

/** Keys that are worth hashing by: a constant brings all rows to one place. */
export const usefulKeys = (keys: readonly Expression[]): readonly Expression[] =>
  keys.filter((key) => isHashable(key) && columnsRead(key).size > 0);
