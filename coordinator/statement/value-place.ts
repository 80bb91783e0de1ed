import { quoteIdentifier } from '#shared/sql/quote.ts';
import type { TextSpan } from './statement.ts';

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

/**
 * Returns the parameter values that stand in a part of the statement, with positions in that part. The part may have text of our own around
 * it, so each value is compared with the text at its place.
 */
export function placesIn({ text, offset }: TextSpan, values: readonly ValuePlace[]): readonly ValuePlace[] {
  return values
    .map((value) => ({ ...value, start: value.start - offset, end: value.end - offset }))
    .filter(({ start, end, text: value }) => start >= 0 && text.slice(start, end) === value);
}
