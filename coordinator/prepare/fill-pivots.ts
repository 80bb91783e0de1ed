import { SkeinError } from '#shared/error.ts';
import { quoteLiteral } from '#shared/sql/quote.ts';
import type { TextSpan } from '../statement/statement.ts';
import { wholeText, type DerivedText } from '../statement/derived-text.ts';
import { EditedText } from '../statement/edited-text.ts';
import { findPivots, type OpenPivot, type Range } from './find-pivots.ts';

/** Columns that the values of a PIVOT may make, its aggregates not counted: what DuckDB calls `pivot_limit`. */
export const PIVOT_COLUMNS_MAX = 10_000;

/** Runs a query and returns the texts of its one column; the query asks for at most `PIVOT_COLUMNS_MAX + 1` of them. */
export type ReadValues = (query: DerivedText) => Promise<readonly string[]>;

/**
 * Adds the values to every PIVOT of a query whose columns depend on the data, as DuckDB finds them: the distinct values of each
 * expression as texts, sorted, NULL left out.
 *
 *     PIVOT t ON x USING sum(v)
 *     SELECT DISTINCT CAST((x) AS VARCHAR) FROM t WHERE (x) IS NOT NULL ORDER BY 1      -> a, b
 *     PIVOT t ON x IN ('a', 'b') USING sum(v)
 *
 * @throws STATEMENT_TOO_COMPLEX for more columns than `PIVOT_COLUMNS_MAX`, INVALID_ARGUMENT for an expression without values, and what
 * `values` throws
 */
export async function fillPivots(query: TextSpan, values: ReadValues): Promise<DerivedText> {
  const pivots = findPivots(query.text);
  if (pivots.length === 0) return wholeText(query);
  const lists = new Map<number, string>();
  for (const pivot of pivots) {
    let columns = 1;
    // A list behind one expression must not be seen in the query of the next: they stand in no source of each other.
    for (const expression of pivot.expressions) {
      const found = await values(valuesQuery(query.text, { pivot, expression, lists }));
      columns *= found.length;
      const position = query.offset + expression.start;
      if (found.length === 0) {
        throw new SkeinError('INVALID_ARGUMENT', 'the PIVOT has no columns: no row has a value here', { position });
      }
      if (columns > PIVOT_COLUMNS_MAX) {
        throw new SkeinError('STATEMENT_TOO_COMPLEX', `the PIVOT has more than ${PIVOT_COLUMNS_MAX} columns`, {
          position,
        });
      }
      lists.set(expression.end, ` IN (${found.map(quoteLiteral).join(', ')})`);
    }
  }
  return new EditedText(query.text).slice(0, query.text.length, lists);
}

type ValuesOf = { readonly pivot: OpenPivot; readonly expression: Range; readonly lists: ReadonlyMap<number, string> };

/** The distinct values of an expression over the pivot's source, with the common tables that it may name. */
function valuesQuery(text: string, { pivot, expression, lists }: ValuesOf): DerivedText {
  const { withs, source } = pivot;
  const query = new EditedText(text).insert('SELECT * FROM (');
  for (const one of withs) query.slice(one.start, one.end, lists).insert(' SELECT * FROM (');
  query.insert('SELECT DISTINCT CAST((').slice(expression.start, expression.end, lists);
  query.insert(') AS VARCHAR) FROM ').slice(source.start, source.end, lists);
  query.insert(' WHERE (').slice(expression.start, expression.end, lists).insert(') IS NOT NULL');
  return query.insert(`${')'.repeat(withs.length + 1)} ORDER BY 1 LIMIT ${PIVOT_COLUMNS_MAX + 1}`);
}
