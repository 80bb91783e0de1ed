import type { CompareOp } from '#shared/iceberg/predicate.ts';
import type { Json } from '#shared/json.ts';
import type { SqlType } from './sql-type.ts';

/** A bound expression of a plan. A column is a position in the output of the node's child (joins: left columns, then right ones). */
export type Expression =
  | { readonly kind: 'column'; readonly index: number; readonly name: string; readonly type: SqlType }
  /** A raw value as DuckDB serialises it: DATE days, TIMESTAMP microseconds, DECIMAL unscaled; null is SQL's NULL. */
  | { readonly kind: 'constant'; readonly value: Json; readonly type: SqlType }
  | {
      readonly kind: 'compare';
      readonly op: CompareOp | 'distinct' | 'notDistinct';
      readonly left: Expression;
      readonly right: Expression;
    }
  | { readonly kind: 'and' | 'or'; readonly children: readonly Expression[] }
  | {
      readonly kind: 'between';
      readonly input: Expression;
      readonly lower: Expression;
      readonly upper: Expression;
      readonly lowerInclusive: boolean;
      readonly upperInclusive: boolean;
    }
  | { readonly kind: 'not' | 'isNull' | 'isNotNull'; readonly child: Expression }
  | { readonly kind: 'in'; readonly negated: boolean; readonly input: Expression; readonly list: readonly Expression[] }
  /** Other operators, by DuckDB's name: `OPERATOR_COALESCE`, `OPERATOR_TRY`, ... */
  | {
      readonly kind: 'operator';
      readonly name: string;
      readonly children: readonly Expression[];
      readonly type: SqlType;
    }
  | {
      readonly kind: 'function';
      readonly name: string;
      /** With a lambda: the list, the initial value if there is one, then the values that the lambda's body captures. */
      readonly children: readonly Expression[];
      readonly type: SqlType;
      readonly lambda?: Lambda;
      /** Set for `list_aggregate`; same meaning as for an aggregate. */
      readonly erased?: readonly Expression[] | null;
      /** Argument names of `struct_update`: `(s, name := value)`. */
      readonly argumentNames?: readonly string[];
    }
  | { readonly kind: 'aggregate'; readonly call: AggregateCall }
  | { readonly kind: 'window'; readonly call: WindowCall }
  | { readonly kind: 'cast'; readonly child: Expression; readonly type: SqlType; readonly tryCast: boolean }
  | {
      readonly kind: 'case';
      readonly branches: readonly { readonly when: Expression; readonly result: Expression }[];
      readonly otherwise: Expression;
      readonly type: SqlType;
    }
  | { readonly kind: 'unnest'; readonly child: Expression; readonly type: SqlType };

/**
 * The function that `list_transform` and its like call. Columns of its body are its parameters, the last one first, then the captures.
 */
export type Lambda = {
  readonly body: Expression;
  readonly parameters: number;
  /** `list_reduce` with a value to start from. */
  readonly hasInitial: boolean;
};

export type AggregateCall = {
  readonly name: string;
  readonly children: readonly Expression[];
  readonly distinct: boolean;
  readonly filter: Expression | null;
  readonly orders: readonly Order[];
  readonly type: SqlType;
  /** Constant arguments that stand no longer among the children: a separator, fractions. Null: there were some that are not known. */
  readonly erased?: readonly Expression[] | null;
};

export type WindowCall = {
  /** `row_number`, `lead`, or an aggregate's name. */
  readonly name: string;
  readonly children: readonly Expression[];
  readonly partitions: readonly Expression[];
  readonly orders: readonly Order[];
  /** Orders inside the call, `first_value(x ORDER BY y)`. */
  readonly argumentOrders: readonly Order[];
  readonly filter: Expression | null;
  readonly distinct: boolean;
  readonly ignoreNulls: boolean;
  readonly frame: WindowFrame;
  readonly type: SqlType;
  /** Same meaning as for an aggregate. */
  readonly erased?: readonly Expression[] | null;
};

type WindowFrame = {
  /** Bounds by DuckDB's names: `UNBOUNDED_PRECEDING`, `EXPR_PRECEDING_ROWS`, `CURRENT_ROW_RANGE`, ... */
  readonly start: string;
  readonly end: string;
  readonly startExpression: Expression | null;
  readonly endExpression: Expression | null;
  readonly exclude: string;
  readonly offset: Expression | null;
  readonly defaultValue: Expression | null;
};

export type Order = {
  readonly expression: Expression;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
};
