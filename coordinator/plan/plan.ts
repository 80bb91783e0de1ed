import type { CompareOp } from '#shared/iceberg/predicate.ts';
import type { Json } from '#shared/json.ts';
import type { AggregateCall, Expression, Order, WindowCall } from './expression.ts';
import type { SqlType } from './sql-type.ts';

/** The optimised logical plan of a query, as DuckDB made it. Every node's output is an ordered list of columns (`plan-schema.ts`). */
export type Plan =
  /** Rows of one of the statement's tables; `columns` are positions in the table's column list. */
  | {
      readonly kind: 'scan';
      readonly scan: number;
      readonly columns: readonly PlanColumn[];
      /** Whether the tasks divide its files, or each reads them all; absent until the distributor has decided. */
      readonly read?: 'split' | 'all';
    }
  /** Rows of an allow-listed table function (`range`, `generate_series`, `repeat_row`, ...). */
  | {
      readonly kind: 'generator';
      readonly name: string;
      readonly arguments: readonly Expression[];
      readonly named?: readonly NamedExpression[];
      /** Its last column numbers its rows. */
      readonly ordinality?: boolean;
      readonly columns: readonly PlanColumn[];
      /**
       * A table function that takes rows (`unnest` in a lateral join) has one: its first columns are the arguments, and these of its
       * columns follow the function's.
       */
      readonly child: Plan | null;
      readonly inputArguments?: number;
      readonly inputColumns: readonly number[];
    }
  /** Constant rows; an IN list of constants becomes one of these. */
  | {
      readonly kind: 'values';
      readonly rows: readonly (readonly Expression[])[];
      readonly columns: readonly PlanColumn[];
      readonly child: Plan | null;
    }
  /** One row without columns. */
  | { readonly kind: 'oneRow' }
  /** No rows. */
  | { readonly kind: 'empty'; readonly columns: readonly PlanColumn[] }
  /** Rows of which every condition is true; keeps the columns in `projection` (null = all). */
  | {
      readonly kind: 'filter';
      readonly child: Plan;
      readonly conditions: readonly Expression[];
      readonly projection: readonly number[] | null;
    }
  | { readonly kind: 'project'; readonly child: Plan; readonly expressions: readonly NamedExpression[] }
  /** Groups first, then aggregates, then GROUPING() results; `sets` are positions in `groups`. */
  | {
      readonly kind: 'aggregate';
      readonly child: Plan;
      readonly groups: readonly Expression[];
      readonly sets: readonly (readonly number[])[];
      readonly aggregates: readonly AggregateCall[];
      readonly groupings: readonly (readonly number[])[];
      /** The groups of a set are computed from those of a larger set: the distributor's choice (`chain-sets.ts`). */
      readonly chained?: boolean;
    }
  /** Adds one column per call. */
  | { readonly kind: 'window'; readonly child: Plan; readonly calls: readonly WindowCall[] }
  /** Adds the rows of lists: the child's columns, then one per expression. */
  | { readonly kind: 'unnest'; readonly child: Plan; readonly expressions: readonly Expression[] }
  /** DISTINCT, or DISTINCT ON with the orders that choose the row. */
  | {
      readonly kind: 'distinct';
      readonly child: Plan;
      readonly on: readonly Expression[];
      readonly orders: readonly Order[];
      readonly isOn: boolean;
    }
  | {
      readonly kind: 'sort';
      readonly child: Plan;
      readonly orders: readonly Order[];
      readonly projection: readonly number[] | null;
    }
  | { readonly kind: 'limit'; readonly child: Plan; readonly limit: Limit; readonly offset: Limit }
  | { readonly kind: 'sample'; readonly child: Plan; readonly options: Json }
  | JoinPlan
  | { readonly kind: 'cross'; readonly left: Plan; readonly right: Plan }
  /** Rows side by side, by their numbers. */
  | { readonly kind: 'positional'; readonly left: Plan; readonly right: Plan }
  /** The distinct correlation columns of the delim join that stands above. */
  | { readonly kind: 'delimScan'; readonly columns: readonly PlanColumn[] }
  | { readonly kind: 'union' | 'intersect' | 'except'; readonly all: boolean; readonly children: readonly Plan[] }
  /** `definition` is computed once and read by every `cteScan` of this index in `body`. */
  | {
      readonly kind: 'cte';
      readonly index: number;
      readonly name: string;
      readonly definition: Plan;
      readonly body: Plan;
    }
  | {
      readonly kind: 'recursiveCte';
      readonly index: number;
      readonly name: string;
      readonly all: boolean;
      readonly anchor: Plan;
      readonly step: Plan;
      /** It has USING KEY, or a step that reads all rows so far (`recurring`): such a CTE is not printed as SQL. */
      readonly isKeyed?: boolean;
    }
  | { readonly kind: 'cteScan'; readonly index: number; readonly columns: readonly PlanColumn[] }
  /** Sends the child's rows to the tasks that `to` says. Only the distributor adds it; a single DuckDB would ignore it. */
  | {
      readonly kind: 'exchange';
      readonly child: Plan;
      readonly to: Partitioning;
      /** The stage that its child becomes, and how many partitions it makes: more than 1 for `hash` alone. */
      readonly stage: number;
      readonly partitions: number;
      /** Why it stands here, for EXPLAIN. */
      readonly reason: string;
    }
  /** The output rows of a stage: an exchange, seen from the fragment that reads it. */
  | {
      readonly kind: 'stage';
      readonly stage: number;
      /** The part of the stage's output that a reading task gets: its own partition, everything, or some tasks' output whole. */
      readonly read: 'partition' | 'all' | 'share';
      readonly columns: readonly PlanColumn[];
    };

/** The tasks to which an exchange sends rows. */
export type Partitioning =
  /** All to one task. */
  | { readonly kind: 'gather' }
  /** All to every task of the reader. */
  | { readonly kind: 'broadcast' }
  /**
   * Rows with equal keys to the same task. `spreadNulls`: a row with a NULL key needs no partner, and goes by all of its values
   * (the preserved side of an outer join).
   */
  | { readonly kind: 'hash'; readonly keys: readonly Expression[]; readonly spreadNulls: boolean }
  /** Rows stay on the worker that made them; each reading task takes the whole output of some tasks. */
  | { readonly kind: 'keep' };

export type JoinPlan = {
  readonly kind: 'join';
  readonly type: JoinType;
  readonly left: Plan;
  readonly right: Plan;
  readonly conditions: readonly JoinCondition[];
  /** A condition that is no comparison of one side with the other; columns of both sides. */
  readonly residual: Expression | null;
  readonly asof: boolean;
  /** The distributor's choice; null before it. */
  readonly distribution: JoinDistribution | null;
  /** Correlation columns of a delim join, over the side that `delimFlipped` names (false: left); null for a plain join. */
  readonly delim: readonly Expression[] | null;
  readonly delimFlipped: boolean;
  /** Columns kept of each side; null = all. */
  readonly leftProjection: readonly number[] | null;
  readonly rightProjection: readonly number[] | null;
};

/** `partitioned`: both sides by their keys; the others: that side whole to every task of the other; `single`: in one task. */
export type JoinDistribution = 'partitioned' | 'broadcastLeft' | 'broadcastRight' | 'single';

/** `mark` adds a boolean column with SQL's three-valued IN; `single` is a left join that raises when a row matches twice. */
export type JoinType =
  | 'inner'
  | 'left'
  | 'right'
  | 'full'
  | 'semi'
  | 'anti'
  | 'rightSemi'
  | 'rightAnti'
  | 'mark'
  | 'single';

/** `left` over the left side's columns, `right` over the right side's. */
type JoinCondition = {
  readonly op: CompareOp | 'distinct' | 'notDistinct';
  readonly left: Expression;
  readonly right: Expression;
};

export type PlanColumn = { readonly index: number; readonly name: string; readonly type: SqlType };
type NamedExpression = { readonly name: string; readonly expression: Expression };

export type Limit =
  | { readonly kind: 'none' }
  | { readonly kind: 'rows'; readonly rows: number }
  | { readonly kind: 'percent'; readonly percent: number }
  | { readonly kind: 'expression'; readonly expression: Expression; readonly percent: boolean };
