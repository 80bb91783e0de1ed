import { must } from '#shared/must.ts';
import { columnsRead, expressionKey, moveColumns } from '../../plan/expression-tree.ts';
import type { Expression } from '../../plan/expression.ts';
import type { Plan } from '../../plan/plan.ts';
import { expressionType } from '../../plan/plan-schema.ts';
import { isOrderSensitive } from './order-sensitive.ts';

/** A placed node: which of its rows each task of the fragment has. */
export type Placed = {
  /** The node of the plan that is distributed. */
  readonly source: Plan;
  /** The node with exchanges, reads and join distributions. */
  readonly plan: Plan;
  readonly tasks: Tasks;
};

export type Tasks =
  /** One task has all rows. `everywhere`: any number of tasks would each have the same rows. */
  | { readonly kind: 'one'; readonly everywhere: boolean }
  /** Each task has some rows, by the files and outputs that it gets. */
  | { readonly kind: 'splits' }
  /**
   * Each of `count` tasks has the rows of its partition. `keys` null: the keys are no longer columns of the node. `nullsSpread`: rows with
   * a NULL key may be in any partition.
   */
  | {
      readonly kind: 'partitions';
      readonly count: number;
      readonly keys: Keys | null;
      readonly nullsSpread: boolean;
    };

/** The hash keys of a partitioning: for every key, expressions over the node's columns that equal it in every row. */
export type Keys = readonly (readonly Expression[])[];

export const EVERYWHERE: Tasks = { kind: 'one', everywhere: true };
export const ONE: Tasks = { kind: 'one', everywhere: false };

/** Returns the tasks of a node. An order-sensitive node is computed in one task, not by every task. */
export const placeOf = (node: Plan, tasks: Tasks): Tasks =>
  tasks.kind === 'one' && isOrderSensitive(node) ? ONE : tasks;

/**
 * Returns the same tasks for a parent node that keeps every row in its task. `move` rewrites a key over the parent's columns, or returns
 * null.
 */
export function movedTasks(tasks: Tasks, move: (key: Expression) => Expression | null): Tasks {
  if (tasks.kind !== 'partitions' || tasks.keys === null) return tasks;
  return { ...tasks, keys: moveKeys(tasks.keys, (key) => [move(key)]) };
}

/** Rewrites the expressions of each key; null when a key has no expression left. */
export function moveKeys(keys: Keys, move: (key: Expression) => readonly (Expression | null)[]): Keys | null {
  const moved = keys.map((same) => same.flatMap(move).filter((one) => one !== null));
  return moved.every((same) => same.length > 0) ? moved : null;
}

/** Rewrites a key over the columns that a projection gives; a computed column that equals the key replaces it. */
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
  return { kind: 'column', index, name: '', type: expressionType(expression) };
}

/** Rewrites a key over the output of a node that picks columns by position (null = all). */
export const throughPositions =
  (positions: readonly number[] | null) =>
  (key: Expression): Expression | null =>
    positions === null
      ? key
      : moveColumns(key, (index) => (positions.includes(index) ? positions.indexOf(index) : null));

/** Whether rows that are equal by `required` are in one task: every partition key is one of `required`. */
export function isTogether(tasks: Tasks, required: readonly Expression[]): boolean {
  if (tasks.kind === 'one') return true;
  if (tasks.kind !== 'partitions' || tasks.keys === null || tasks.nullsSpread) return false;
  const wanted = new Set(required.map(expressionKey));
  return tasks.keys.every((same) => same.some((key) => wanted.has(expressionKey(key))));
}

/** Whether equal values of the expression's type have equal hashes, so that rows may be partitioned by it. */
export function isHashable(expression: Expression): boolean {
  const type = expressionType(expression);
  if (type.kind === 'scalar') return !UNHASHABLE.has(type.name);
  return type.kind === 'decimal' || type.kind === 'enum';
}

/** Equal INTERVALs and TIMETZs may have different bytes; the other types are not used as keys. */
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

/** Returns the keys that are worth hashing by: a constant would bring all rows to one partition. */
export const usefulKeys = (keys: readonly Expression[]): readonly Expression[] =>
  keys.filter((key) => isHashable(key) && columnsRead(key).size > 0);
