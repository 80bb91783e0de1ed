/**
 * The optimizer that computes an expression once which occurs several times. DuckDB 1.5.5 moves it out of TRY, too, and its errors then fail
 * the statement: `TRY(abs(x) + abs(x))`. It is off for statements that call TRY.
 */
export const COMMON_SUBEXPRESSIONS = 'common_subexpressions';

/** Whether a statement may call TRY: true for every text with that word. */
export const mayCallTry = (sql: string): boolean => /\btry\b/i.test(sql);
