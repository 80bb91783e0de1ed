import type { PostgresType } from '../binding/pg-types.ts';
import type { SqlType } from '../plan/sql-type.ts';

/** A column of a query's result. */
export type QueryColumn = {
  readonly name: string;
  readonly typeName: string;
  readonly type: SqlType;
  /** Its type in Postgres, where that is not what `type` says. */
  readonly postgres?: PostgresType;
};

/** A statement that a session has prepared. It is text: each EXECUTE binds its names and values anew. */
export type PreparedStatement = {
  readonly name: string;
  readonly sql: string;
  /** In their order when they have numbers. */
  readonly parameters: readonly PreparedParameter[];
  /** Columns of the result; their types hold for values of unknown type. Null when they depend on data or values. */
  readonly columns: readonly QueryColumn[] | null;
  /** About how much memory it takes. */
  readonly bytes: number;
};

type PreparedParameter = {
  /** Its number or its name, folded. */
  readonly name: string;
  /** False for a number below the highest that the statement does not name. */
  readonly isUsed: boolean;
  /** Type that PREPARE declares: each value is cast to it. */
  readonly declared: string | null;
  /** Its declared type, else the type that DuckDB expects in its place; null = that of its value. */
  readonly type: SqlType | null;
};
