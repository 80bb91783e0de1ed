import type { SqlText } from '#shared/task/sql-text.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import type { WholeFragment } from '../distributor/fragment.ts';
import type { PlannedScan } from './plan-scans.ts';
import { NO_COLUMN } from './policed-rows.ts';

/**
 * DuckDB moves no condition and no expression past a sample, of which it gives every row: each chunk is passed on as it is, by as many cores
 * as read the table. A LIMIT would let conditions of joins through, and a materialized common table expression those of its readers.
 * `inline-barrier.test.ts` has the plans.
 */
const FENCE = ' TABLESAMPLE SYSTEM (100 PERCENT)';

/**
 * Puts the query of a table's policies into the text of a statement that reads this table alone, so that one task does both.
 * ```
 * SELECT a FROM <0> AS "t" WHERE a > b   ->   SELECT a FROM (SELECT "a", "b" FROM (<policies over 0>) TABLESAMPLE ...) AS "t" WHERE a > b
 * ```
 * The rows that the statement's text reads have passed the policies: row by row, as they come. Neither text is planned without the other, so
 * an error may be of either, and the numbers of its operators tell of hidden rows: `runWhole` tells neither.
 * @returns undefined for a statement that reads anything else
 */
export function inlineBarrier(
  fragment: WholeFragment,
  planned: readonly PlannedScan[],
): { readonly fragment: WholeFragment; readonly scans: readonly PlannedScan[] } | undefined {
  const [table, second] = planned;
  if (table?.kind !== 'rows' || table.policed === undefined || second !== undefined) return undefined;
  const { reading, scans, wanted } = table.policed;
  const columns = table.rows.columns.map(({ name }) =>
    name === NO_COLUMN.name ? `CAST(NULL AS BOOLEAN) AS ${quoteIdentifier(name)}` : quoteIdentifier(name),
  );
  const below: SqlText = [
    `(SELECT * FROM (SELECT ${columns.join(', ')} FROM (`,
    ...reading.sql,
    `)${wanted === null ? '' : ` WHERE ${wanted}`})${FENCE})`,
  ];
  return {
    fragment: {
      ...fragment,
      sql: fragment.sql.flatMap((part) => (typeof part !== 'string' && 'scan' in part ? below : [part])),
      scans: scans.map((_, scan) => ({ scan, read: 'all' })),
      policed: { seesPolicies: reading.seesPolicies, isInline: true },
    },
    scans,
  };
}
