/** Words and signs of the dialects, by what they mean where they stand. */

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Words that mean the same in the dialects and here; they are written as they are. */
export const KEYWORDS = words(`
  SELECT DISTINCT ALL AS FROM WHERE GROUP BY HAVING ORDER ASC DESC NULLS FIRST LAST LIMIT WITH UNION INTERSECT EXCEPT
  JOIN INNER LEFT RIGHT FULL OUTER CROSS ON USING AND OR NOT IN IS NULL BETWEEN LIKE CASE WHEN THEN ELSE END EXISTS
  CAST TRUE FALSE OVER PARTITION FILTER`);
/** Keywords behind which no expression goes on: what stands before them binds with nothing behind. */
export const BORDERS = words(`
  SELECT DISTINCT ALL AS FROM WHERE GROUP BY HAVING ORDER LIMIT WITH UNION INTERSECT EXCEPT JOIN INNER LEFT RIGHT FULL
  OUTER CROSS ON USING OR WHEN THEN ELSE OVER PARTITION FILTER ASC DESC NULLS`);
/** Keywords that end an operand, so that a word behind them is an alias. */
export const OPERAND_ENDS = words('NULL TRUE FALSE END');
/** Keywords behind which a text may stand. */
export const BEFORE_TEXT = words(`
  SELECT DISTINCT ALL WHERE BY HAVING ON AND OR NOT BETWEEN LIKE CASE WHEN THEN ELSE`);
/** Words that some engine reads as more than an alias when they stand behind an operand. */
export const NO_ALIASES = words(`
  ANTI SEMI NATURAL LATERAL TABLESAMPLE PIVOT UNPIVOT CLUSTER DISTRIBUTE SORT WINDOW QUALIFY MINUS SETMINUS FETCH OFFSET
  FOR VERSION TIMESTAMP DATE TIME SYSTEM_VERSION SYSTEM_TIME MATCH_RECOGNIZE ESCAPE ROWS ROW RANGE GROUPS AT DIV RLIKE REGEXP
  ILIKE SIMILAR COLLATE IGNORE RESPECT WITHIN INTERVAL TABLE VALUES RECURSIVE INTO ASOF POSITIONAL SAMPLE EXCLUDE REPLACE
  APPLY GLOB NOTNULL ISNULL OVERLAPS STREAM WATERMARK IDENTIFIED EXTEND AGGREGATE BINARY OPERATOR XOR RENAME SUMMARIZE`);
/** Functions without brackets. */
export const NILADIC = words(`
  CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP CURRENT_USER CURRENT_CATALOG CURRENT_SCHEMA CURRENT_PATH CURRENT_ROLE
  CURRENT_TIMEZONE LOCALTIME LOCALTIMESTAMP SESSION_USER USER NOW`);
export const TYPES: ReadonlyMap<string, string> = new Map([
  ['INT', 'INTEGER'],
  ['INTEGER', 'INTEGER'],
  ['BIGINT', 'BIGINT'],
  ['DOUBLE', 'DOUBLE'],
  ['BOOLEAN', 'BOOLEAN'],
  ['DATE', 'DATE'],
  ['VARCHAR', 'VARCHAR'],
  ['STRING', 'VARCHAR'],
]);
/** Keywords behind which a bracket opens a part of the query, and calls no function. */
export const BEFORE_BRACKET = words(`
  SELECT DISTINCT ALL AS FROM WHERE BY HAVING JOIN ON USING AND OR NOT IN BETWEEN LIKE CASE WHEN THEN ELSE EXISTS OVER FILTER
  UNION INTERSECT EXCEPT`);
export const COMPARISONS: ReadonlySet<string> = new Set(['=', '<>', '!=', '<', '>', '<=', '>=']);
export const SIGNS: ReadonlySet<string> = new Set([...COMPARISONS, '+', '-', '*', '%', '||']);

/** The kinds of the tokens of an item of an ORDER BY: a number or a name, and up to three words, as in `DESC NULLS LAST`. */
export const ORDERED = /^(?:number|(?:word|quoted)(?: \. (?:word|quoted)){0,3})(?: word){0,3}$/;
/** Keywords that stand behind the HAVING of a query, or begin another one. */
export const BEHIND_HAVING = words('SELECT ORDER LIMIT UNION INTERSECT EXCEPT');
