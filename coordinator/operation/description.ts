import type { SqlType } from '../plan/sql-type.ts';
import type { QueryColumn } from '../session/prepared-statement.ts';

/** The result of a statement before it has the values of its parameters. */
export type Description = {
  /** Null when they depend on data or values. */
  readonly columns: readonly QueryColumn[] | null;
  /** Types of the parameters by number or name, where DuckDB finds them. */
  readonly parameters: ReadonlyMap<string, SqlType>;
};
