import type { SqlText } from '#shared/task/sql-text.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import { unsoundOptimizers } from '#shared/sql/unsound-optimizers.ts';
import type { TaskFragment } from '../distributor/fragment.ts';
import type { PlannedScan, PolicedScan } from './plan-scans.ts';
import { NO_COLUMN } from './policed-rows.ts';

/**
 * DuckDB moves no condition and no expression past a sample, of which it gives every row: each chunk is passed on as it is, by as many cores
 * as read the table. A LIMIT would let conditions of joins through, and a materialized common table expression those of its readers.
 * `inline-barrier.test.ts` has the plans.
 */
const FENCE = ' TABLESAMPLE SYSTEM (100 PERCENT)';

/** Whether a query reads one table, and policies stand between it and the reader. */
export const readsOnePoliced = (planned: readonly PlannedScan[]): boolean =>
  planned.length === 1 && planned[0]?.policed !== undefined;

/**
 * Whether a worker evaluates the expressions of a text that a plan has. Without the rewriter, which is off for some texts (`unsoundOptimizers`),
 * it also evaluates what the planner has folded away: `false AND length(repeat(s, n)) > 0` was not judged by `isPlainPlan`. The policies' own
 * words may be what the rewriter is off for.
 */
export const isRunAsPlanned = (sql: SqlText): boolean => {
  const text = sql.map((part) => (typeof part === 'string' ? part : ' ')).join('');
  return !unsoundOptimizers({ sql: text, process: 'worker', mentions: 1 }).includes('expression_rewriter');
};

type Inlined<F extends TaskFragment> = { readonly fragment: F; readonly scans: readonly PlannedScan[] };

/**
 * Puts the query of a table's policies into the text of a fragment that reads the table, so that one task does both.
 * ```
 * SELECT a FROM <0> AS "t" WHERE a > b   ->   SELECT a FROM (SELECT "a", "b" FROM (<policies over 1>) TABLESAMPLE ...) AS "t" WHERE a > b
 * ```
 * The rows that the statement's text reads have passed the policies: row by row, as they come. The two are planned as one text, so that an
 * error may be of either, and the numbers of its operators tell of hidden rows: neither is told as it is (`applyApart`).
 * @param planned the scans of the query; those of the policies follow them in the answer
 */
export function inlineBarriers<F extends TaskFragment>(fragment: F, planned: readonly PlannedScan[]): Inlined<F> {
  const scans = [...planned];
  const read: { scan: number; read: 'split' | 'all' }[] = [];
  const texts = new Map<number, SqlText>();
  let seesPolicies = true;
  for (const [i, one] of fragment.scans.entries()) {
    const table = planned[one.scan];
    if (table?.kind !== 'rows' || table.policed === undefined) {
      texts.set(i, [{ scan: read.push(one) - 1 }]);
      continue;
    }
    const { policed, rows } = table;
    texts.set(i, textBelow(policed, rows.columns, read.length));
    for (const [j, scan] of policed.scans.entries()) {
      read.push({ scan: scans.push(scan) - 1, read: j === policed.reading.source ? one.read : 'all' });
    }
    seesPolicies &&= policed.reading.seesPolicies;
  }
  if (scans.length === planned.length) return { fragment, scans: planned };
  const sql = fragment.sql.flatMap((part) =>
    typeof part !== 'string' && 'scan' in part ? (texts.get(part.scan) ?? [part]) : [part],
  );
  return { fragment: { ...fragment, sql, scans: read, policed: { seesPolicies, isInline: true } }, scans };
}

/** The relation that stands in the place of the table; `first` is the number of the policies' first scan in the fragment. */
function textBelow(
  { reading, wanted }: PolicedScan,
  columns: readonly { readonly name: string }[],
  first: number,
): SqlText {
  const list = columns.map(({ name }) =>
    name === NO_COLUMN.name ? `CAST(NULL AS BOOLEAN) AS ${quoteIdentifier(name)}` : quoteIdentifier(name),
  );
  return [
    `(SELECT * FROM (SELECT ${list.join(', ')} FROM (`,
    ...reading.sql.map((part) => (typeof part !== 'string' && 'scan' in part ? { scan: first + part.scan } : part)),
    `)${wanted === null ? '' : ` WHERE ${wanted}`})${FENCE})`,
  ];
}
