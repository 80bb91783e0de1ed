/** First words of statements, by what they mean for transactions. */

/** Words that begin a statement which changes rows, or may do so: others follow it in one transaction. What defines tables commits by itself. */
export const CHANGES: ReadonlySet<string> = new Set([
  'INSERT',
  'UPDATE',
  'DELETE',
  'MERGE',
  'TRUNCATE',
  'WITH',
  'EXECUTE',
  'EXPLAIN',
  // It needs a transaction.
  'DECLARE',
]);

export const ENDS: ReadonlySet<string> = new Set(['COMMIT', 'END', 'ROLLBACK', 'ABORT']);
/** Statements that a failed transaction takes. */
export const RECOVERS: ReadonlySet<string> = new Set([...ENDS, 'ROLLBACK TO']);
/** Statements that need a transaction of a BEGIN. */
export const SAVEPOINTS: ReadonlySet<string> = new Set(['SAVEPOINT', 'RELEASE', 'ROLLBACK TO']);
export const COMMITS: ReadonlySet<string> = new Set(['COMMIT', 'END']);
export const BEGINS: ReadonlySet<string> = new Set(['BEGIN', 'START']);
/** Statements about the transaction itself. */
export const CONTROLS: ReadonlySet<string> = new Set([...BEGINS, ...ENDS, ...SAVEPOINTS]);

/** Statements that the door gives by itself. */
export const BEGIN = { sql: 'BEGIN', parameters: null } as const;
export const ROLLBACK = { sql: 'ROLLBACK', parameters: null } as const;
