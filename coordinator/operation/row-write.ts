import type { AsWritten } from '../statement/proven.ts';
import type { ObjectName, TextSpan } from '../statement/statement.ts';
import type { ColumnName, TargetColumns } from './target-columns.ts';

export type Insert<Parts extends AsWritten = AsWritten> = {
  /** `overwrite`: the rows of the partitions that get rows go; in a table without partitions all of them. */
  readonly mode: 'append' | 'overwrite';
  readonly table: ObjectName;
  readonly target: TargetColumns;
  readonly query: TextSpan;
  /** The values of a VALUES list, row by row: each is converted to its column's type by itself; null = DEFAULT. */
  readonly values: readonly (readonly (Parts['expression'] | null)[])[] | null;
  /** The list of RETURNING; null = the number of rows is returned. */
  readonly returning: Parts['list'] | null;
  /** The query and what is behind it. */
  readonly rest: TextSpan;
};
/** A statement that writes rows of a table which is there. */
export type RowWrite<Parts extends AsWritten = AsWritten> =
  | { readonly kind: 'insert'; readonly input: Insert<Parts> }
  | { readonly kind: 'delete'; readonly input: Delete<Parts> }
  | { readonly kind: 'update'; readonly input: Update<Parts> }
  | { readonly kind: 'merge'; readonly input: Merge<Parts> };
/** Rows of a table for which a condition holds. */
export type MatchingRows<Parts extends AsWritten = AsWritten> = {
  readonly table: ObjectName;
  /** The name by which the condition calls the table. */
  readonly alias: string | null;
  /** The other tables, as FROM has them. */
  readonly from: Parts['tables'] | null;
  /** Null = every row. */
  readonly where: Parts['expression'] | null;
  readonly returning: Parts['list'] | null;
  /** The statement's text behind the name of the table, of which all others are parts. */
  readonly rest: TextSpan;
};
export type Delete<Parts extends AsWritten = AsWritten> = MatchingRows<Parts>;
export type Update<Parts extends AsWritten = AsWritten> = MatchingRows<Parts> & {
  readonly set: readonly SetColumn<Parts>[];
};
export type Merge<Parts extends AsWritten = AsWritten> = {
  readonly table: ObjectName;
  readonly alias: string | null;
  readonly source: MergeSource<Parts>;
  readonly on: Parts['expression'];
  /** The first that fits a row decides. */
  readonly branches: readonly MergeBranch<Parts>[];
  readonly returning: Parts['list'] | null;
  /** The statement's text behind the name of the table, of which all others are parts. */
  readonly rest: TextSpan;
};
/** The name of a table, or a query in brackets, without them. */
export type MergeSource<Parts extends AsWritten = AsWritten> =
  | {
      readonly kind: 'table';
      readonly table: Parts['tables'];
      /** The table's name. */
      readonly parts: readonly string[];
      readonly alias: string | null;
    }
  | {
      readonly kind: 'query';
      readonly query: Parts['query'];
      readonly alias: string;
      /** The names that the statement gives the columns. */
      readonly columns: readonly ColumnName[];
    };
export type MergeBranch<Parts extends AsWritten = AsWritten> = {
  readonly when: 'matched' | 'not-matched' | 'not-matched-by-source';
  readonly condition: Parts['expression'] | null;
  readonly action: MergeAction<Parts>;
};
/** `set` and `values` null: `*`, the source's columns by their names; a value null: DEFAULT. */
export type MergeAction<Parts extends AsWritten = AsWritten> =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'delete' }
  | { readonly kind: 'update'; readonly set: readonly SetColumn<Parts>[] | null }
  | {
      readonly kind: 'insert';
      readonly columns: readonly ColumnName[] | null;
      readonly values: readonly (Parts['expression'] | null)[] | null;
    };
/** `value` null = the column's default. */
export type SetColumn<Parts extends AsWritten = AsWritten> = {
  readonly name: string;
  readonly position: number;
  readonly value: Parts['expression'] | null;
};
