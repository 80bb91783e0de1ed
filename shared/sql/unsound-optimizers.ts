/** A statement as a process is about to plan it. */
type PlannedText = {
  readonly sql: string;
  /** Planners read no files. */
  readonly process: 'worker' | 'planner';
  /** How often the text names the table that it names most often. */
  readonly mentions: number;
};

/** An optimizer of DuckDB that makes wrong answers or internal errors of some statements. */
type UnsoundOptimizer = {
  /** Its name in `disabled_optimizers`. */
  readonly name: string;
  /** Whether it may harm a statement: true for every text that it harms, and for few others, because without it a statement is slower. */
  readonly mayHarm: (text: PlannedText) => boolean;
};

const always = (): boolean => true;
const matches =
  (pattern: RegExp) =>
  ({ sql }: PlannedText): boolean =>
    pattern.test(sql);

/**
 * The optimizers of DuckDB 1.5.5 that are known to be wrong, with the reports that say so; `docs/duckdb.md` has the statements and
 * `test/slt/duckdb-reports.test.ts` runs them. Planners and workers switch them off. No pattern takes more than linear time.
 */
const UNSOUND_OPTIMIZERS: readonly UnsoundOptimizer[] = [
  // Rows that are lost, doubled or made up: #23588, #23675, #23677, #23678, #23925, #24363, #24710, #24711.
  { name: 'top_n_window_elimination', mayHarm: always },
  // Keys that occur twice, and random(): #24302, #24780.
  { name: 'window_self_join', mayHarm: always },
  // Two subplans that each read a table twice are taken for one, though they give different columns: #25819.
  { name: 'common_subplan', mayHarm: mayRepeatSelfJoin },
  // An expression that occurs twice is moved out of TRY, and its error then fails the statement: `TRY(abs(x) + abs(x))`.
  { name: 'common_subexpressions', mayHarm: matches(/\btry\b/i) },
  // It drops a column that only a further condition of an as-of join reads: an internal error.
  { name: 'column_lifetime', mayHarm: matches(/\basof\b/i) },
  // A cast of an infinite timestamp to a date fails when it is compared: #24306.
  { name: 'expression_rewriter', mayHarm: matches(/\binfinity\b/i) },
  { name: 'expression_rewriter', mayHarm: mayLoseNulls },
  // A subquery of EXISTS with a derived table that has columns of the outer query: #22267.
  { name: 'deliminator', mayHarm: existsOverDerived },
];

/** Mentions of one table by two subplans that read it twice each. A common table expression may be read any number of times. */
const REPEATED_MENTIONS = 4;
function mayRepeatSelfJoin({ sql, mentions }: PlannedText): boolean {
  return mentions >= REPEATED_MENTIONS || /\bwith\b/i.test(sql);
}

/** A comparison of two columns, as every printed fragment spells one: it is not pushed into a scan. */
const TWO_COLUMNS = /\b\w+\.\w+ is (?:not )?distinct from \w+\.\w+/gi;

/**
 * `a IS DISTINCT FROM 5 OR a > 7`: row groups with no other value than 5 and NULL are left out (#25992). Without the rewriter DuckDB does not
 * push such a condition into the scan.
 */
function mayLoseNulls({ sql, process }: PlannedText): boolean {
  if (process === 'planner' || !/\bor\b/i.test(sql)) return false;
  const rest = sql.replaceAll(TWO_COLUMNS, '');
  return /\bdistinct\s+from\b|\bis\s+(?:not\s+)?(?:true|false|unknown)\b/i.test(rest);
}

function existsOverDerived({ sql }: PlannedText): boolean {
  const exists = sql.search(/\bexists\b/i);
  return exists >= 0 && /\bfrom\s*\(\s*(?:select|with|values)\b/i.test(sql.slice(exists));
}

/** The names of the optimizers that are off for a statement. */
export const unsoundOptimizers = (text: PlannedText): readonly string[] => [
  ...new Set(UNSOUND_OPTIMIZERS.filter(({ mayHarm }) => mayHarm(text)).map(({ name }) => name)),
];

/** Calls that are wrong over windows that leave rows out: `mad`, and those of its family over DISTINCT values. */
const MAD = /\bmad\b/i;
const QUANTILES = /\b(?:median|(?:quantile|percentile)(?:_cont|_disc)?)\b/i;

/**
 * Whether a statement has an aggregate whose own way of computing windows is wrong where the window leaves rows out (EXCLUDE): `mad` with NULLs
 * or a FILTER (#24442), `median` and quantiles of DISTINCT values. Every aggregate of such a statement is then computed for each row from the
 * rows of its frame; those that are healed take no longer so, but for all others it would be a loss.
 */
export const hasUnsoundWindows = (sql: string): boolean =>
  /\bexclude\b/i.test(sql) &&
  /\b(?:over|window)\b/i.test(sql) &&
  (MAD.test(sql) || (QUANTILES.test(sql) && /\bdistinct\b/i.test(sql)));

/** The value of `debug_window_mode` for a statement. Not `combine`, in which `count(*)` is 0 over every window. */
export const windowMode = (unsound: boolean): 'window' | 'separate' => (unsound ? 'separate' : 'window');

/**
 * Whether DuckDB must choose the order of joins itself: without `join_order`, planning `count(*)` over an as-of join with a further condition
 * ends the process.
 */
export const needsJoinOrder = (sql: string): boolean => /\basof\b/i.test(sql);
