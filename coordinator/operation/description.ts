import type { SqlType } from '../plan/sql-type.ts';
import type { QueryColumn } from '../session/prepared-statement.ts';

/** The answer of a statement, without running it. */
export type AnswerForm =
  | { readonly kind: 'rows'; readonly columns: readonly QueryColumn[] | null }
  | { readonly kind: 'count' | 'nothing' };

/** A statement as a door describes it to its client. */
export type StatementDescription = AnswerForm & {
  /** As in `ResultShape`. */
  readonly tag: string;
  /** In their order when they have numbers. A type that nothing decides is VARCHAR. */
  readonly parameters: readonly {
    readonly name: string;
    readonly type: SqlType;
    /** False for a number below the highest that the statement does not name. Absent: it does. */
    readonly isUsed?: boolean;
  }[];
};

/** The result of a statement before it has the values of its parameters. */
export type Description = {
  /** The statement answers how many rows it has changed; absent = rows. */
  readonly kind?: 'count';
  /** Null when they depend on data or values. */
  readonly columns: readonly QueryColumn[] | null;
  /** Types of the parameters by number or name, where DuckDB finds them. */
  readonly parameters: ReadonlyMap<string, SqlType>;
};
