import { quoteIdentifier } from '#shared/sql/quote.ts';

/** A part of a text that is the value of a parameter. */
export type ValuePlace = {
  readonly start: number;
  readonly end: number;
  /** Number of the parameter, or its name as it is compared, without the `$`. */
  readonly name: string;
  /** The same as it is spelled here. */
  readonly spelled: string;
  /** The value as SQL. */
  readonly text: string;
};

/** The parameter as DuckDB reads it. */
export const parameterSql = ({ spelled }: ValuePlace): string =>
  /^\d+$/.test(spelled) ? `$${spelled}` : `$${quoteIdentifier(spelled)}`;
