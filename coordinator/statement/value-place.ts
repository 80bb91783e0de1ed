import { quoteIdentifier } from '#shared/sql/quote.ts';

/** A part of a text that is the value of a parameter. */
export type ValuePlace = {
  readonly start: number;
  readonly end: number;
  /** Number or name of the parameter, without its `$`. */
  readonly name: string;
  /** The value as SQL. */
  readonly text: string;
};

/** The parameter as DuckDB reads it. */
export const parameterSql = (name: string): string => (/^\d+$/.test(name) ? `$${name}` : `$${quoteIdentifier(name)}`);
