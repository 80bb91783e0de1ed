import { unreachable } from '#shared/must.ts';

/**
 * A condition on the rows that a query wants from one table, in terms of Iceberg field ids: it prunes partitions, files and row groups. A
 * predicate may only be *weaker* than the query's filter (anything that it cannot express is `true`); DuckDB filters the rows themselves.
 */
export type Predicate =
  | { readonly kind: 'true' }
  | { readonly kind: 'false' }
  | { readonly kind: 'and' | 'or'; readonly children: readonly Predicate[] }
  | { readonly kind: 'compare'; readonly op: CompareOp; readonly fieldId: number; readonly value: Literal }
  | { readonly kind: 'in'; readonly fieldId: number; readonly values: readonly Literal[] }
  | { readonly kind: 'startsWith'; readonly fieldId: number; readonly prefix: string }
  | { readonly kind: 'isNull' | 'notNull'; readonly fieldId: number };

export type CompareOp = 'eq' | 'ne' | 'lt' | 'le' | 'gt' | 'ge';

/** The operator of the same comparison with its sides swapped. */
export const FLIPPED: Readonly<Record<CompareOp, CompareOp>> = {
  eq: 'eq',
  ne: 'ne',
  lt: 'gt',
  le: 'ge',
  gt: 'lt',
  ge: 'le',
};

/**
 * A value of the column's Iceberg type: int, long `bigint`; date `bigint` days, time/timestamp(tz) `bigint` microseconds (the _ns
 * types nanoseconds) since 1970; decimal `bigint` unscaled at the column's scale; float, double `number`; uuid, fixed, binary
 * `Uint8Array`.
 */
export type Literal = boolean | bigint | number | string | Uint8Array;

/** Size of a predicate: each leaf looks up one column, and compares each of its literals. */
export type PredicateSize = { readonly leaves: number; readonly literals: number };

export function predicateSize(predicate: Predicate): PredicateSize {
  switch (predicate.kind) {
    case 'true':
    case 'false':
      return { leaves: 0, literals: 0 };
    case 'and':
    case 'or': {
      const size = { leaves: 0, literals: 0 };
      for (const child of predicate.children) {
        const { leaves, literals } = predicateSize(child);
        size.leaves += leaves;
        size.literals += literals;
      }
      return size;
    }
    case 'in':
      return { leaves: 1, literals: predicate.values.length };
    case 'compare':
    case 'startsWith':
    case 'isNull':
    case 'notNull':
      return { leaves: 1, literals: 1 };
    default:
      return unreachable(predicate);
  }
}
