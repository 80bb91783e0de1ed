import * as duckdb from '@duckdb/node-api';
import { fromDuckDbType } from './duckdb-type-of.ts';
import type { SqlField, SqlType } from '../plan/sql-type.ts';

export type ParameterTypes = {
  readonly found: Map<string, SqlType>;
  /** Whether DuckDB could bind the query without values. */
  readonly isResolved: boolean;
};

/** A query that DuckDB cannot bind without values has one column, which has no type. */
export const isUnresolved = (prepared: duckdb.DuckDBPreparedStatement): boolean =>
  prepared.columnCount === 1 && prepared.columnTypeId(0) === duckdb.DuckDBTypeId.INVALID;

/** DuckDB puts names of functions that are words of its grammar in quotes; programs look for the column of this one by its name. */
const SHOWN: Readonly<Record<string, string>> = { '"version"()': 'version()' };

/** The name of a column of a result. */
export function columnName(prepared: duckdb.DuckDBPreparedStatement, i: number): string {
  const name = prepared.columnName(i);
  return SHOWN[name] ?? name;
}

export const preparedColumns = (prepared: duckdb.DuckDBPreparedStatement): SqlField[] =>
  Array.from({ length: prepared.columnCount }, (_, i) => ({
    name: columnName(prepared, i),
    type: fromDuckDbType(prepared.columnType(i)),
  }));
