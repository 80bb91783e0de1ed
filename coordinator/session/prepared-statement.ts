import type { PostgresType } from '../binding/pg-types.ts';
import type { RelationColumn } from '../binding/relation-column.ts';
import type { SqlType } from '../plan/sql-type.ts';

/** A column of a query's result. */
export type QueryColumn = {
  readonly name: string;
  readonly typeName: string;
  readonly type: SqlType;
  /** Its type in Postgres, where that is not what `type` says. */
  readonly postgres?: PostgresType;
  /** The column of a table or view that it is. */
  readonly origin?: RelationColumn;
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

/** About how much memory a prepared statement takes besides its texts, a parameter of it, and a character of a text. */
const STATEMENT_BYTES = 1_000;
const PARAMETER_BYTES = 200;
const CHARACTER_BYTES = 2;

/** A copy of a text: a part of a longer one would keep all of it in memory. */
const ownText = (text: string): string => Buffer.from(text, 'utf16le').toString('utf16le');

export function preparedStatement({
  name,
  sql,
  parameters,
  columns,
  besides = 0,
}: Omit<PreparedStatement, 'bytes'> & {
  /** Characters that are kept beside these texts. */
  readonly besides?: number;
}): PreparedStatement {
  const types = parameters.map(({ declared }) => declared ?? '');
  const texts = [name, sql, ...types, JSON.stringify(columns)].reduce((length, text) => length + text.length, besides);
  const bytes = STATEMENT_BYTES + parameters.length * PARAMETER_BYTES + texts * CHARACTER_BYTES;
  return { name: ownText(name), sql: ownText(sql), parameters, columns, bytes };
}

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
