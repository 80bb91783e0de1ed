import type { StatementContext } from '#shared/sql/statement-context.ts';
import type { Description } from '../operation/description.ts';
import { findPivots } from '../prepare/find-pivots.ts';
import { describeQuery } from '../prepare/prepare-query.ts';
import type { DerivedText } from '../statement/derived-text.ts';
import type { TextSpan } from '../statement/statement.ts';
import { placesIn } from '../statement/value-place.ts';
import { prepareDerivedText } from './prepare-derived-text.ts';

/** Binds a query, or a text that was made of it, with its parameters in place, before they have values. */
export async function describeText(
  parts: Parameters<typeof prepareDerivedText>[0],
  query: TextSpan,
  text: DerivedText,
  context: StatementContext,
): Promise<Description> {
  // Its columns are those of the data.
  if (findPivots(query.text).length > 0) return { columns: null, parameters: new Map() };
  const values = text.places(placesIn(query, parts.values));
  const { columns, parameters } = await prepareDerivedText(parts, query, text, {
    context,
    values,
    work: describeQuery,
  });
  return {
    columns,
    parameters: new Map(parameters.map(({ name, type }) => [name, type])),
  };
}
