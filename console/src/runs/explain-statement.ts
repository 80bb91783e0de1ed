/** The words that the button `Explain` sends before a statement: they ask for the plan as JSON, and nothing runs. */
const EXPLAIN = 'EXPLAIN (FORMAT JSON) ';
const OWN_EXPLAIN = /^EXPLAIN\b(?:\s*\([^()]*\)|(?:\s+(?:ANALYZE|VERBOSE)\b)+)?\s*/i;

type Placed = { readonly sql: string; readonly offset: number };

/** Asks for the plan of a statement, also of one that asks for it itself. @returns with the place that an error is counted from */
export function explained({ sql, offset }: Placed): Placed & { readonly isExplain: true } {
  const own = OWN_EXPLAIN.exec(sql)?.[0].length ?? 0;
  return { sql: `${EXPLAIN}${sql.slice(own)}`, offset: offset + own - EXPLAIN.length, isExplain: true };
}
