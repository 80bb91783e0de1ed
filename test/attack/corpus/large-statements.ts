/** A statement whose size the sender chooses. */
export type LargeStatement = {
  readonly name: string;
  /** A text of about `bytes` bytes. */
  readonly of: (bytes: number) => string;
};

const repeated =
  (head: string, part: string, tail = '') =>
  (bytes: number): string =>
    head + part.repeat(Math.max(1, Math.floor((bytes - head.length - tail.length) / Buffer.byteLength(part)))) + tail;

/** `part(0)`, `part(1)`, ... up to the size. */
const numbered =
  (head: string, part: (i: number) => string, tail = '') =>
  (bytes: number): string => {
    const parts: string[] = [head];
    for (let i = 0, size = head.length + tail.length; size < bytes; i += 1) {
      const next = part(i);
      parts.push(next);
      size += next.length;
    }
    return parts.join('') + tail;
  };

/**
 * Statements that are the most expensive for their size, one for each kind of work: reading, checking, masking, planning, printing. Whether
 * they are served or refused, nobody else may wait for them. They name no table but those of `lake.tpch`.
 */
export const LARGE_STATEMENTS: readonly LargeStatement[] = [
  { name: 'a chain of operators', of: repeated('SELECT 1', '+1') },
  { name: 'a chain of operators on a column', of: repeated('SELECT r_regionkey', '+1', ' FROM lake.tpch.region') },
  { name: 'a chain of masked operators', of: repeated('CREATE USER a 1', '+1') },
  { name: 'masked keywords', of: repeated('CREATE USER a', ' PASSWORD x') },
  { name: 'brackets that are never closed', of: repeated('SELECT ', '(') },
  { name: 'brackets side by side', of: repeated('SELECT 1', ',((((1))))') },
  {
    name: 'a list of numbers',
    of: numbered('SELECT count(*) FROM lake.tpch.region WHERE r_regionkey IN (-1', (i) => `,${i}`, ')'),
  },
  {
    name: 'a list of texts',
    of: numbered("SELECT count(*) FROM lake.tpch.region WHERE r_name IN ('x'", (i) => `,'${i}'`, ')'),
  },
  {
    name: 'conditions',
    of: numbered('SELECT count(*) FROM lake.tpch.nation WHERE n_nationkey = 0', (i) => ` OR n_regionkey+${i} = ${i}`),
  },
  { name: 'rows', of: numbered('VALUES (-1)', (i) => `,(${i})`) },
  { name: 'columns', of: numbered('SELECT 0 AS c', (i) => `,${i} AS c${i}`) },
  { name: 'columns of a table', of: repeated('SELECT r_name', ',r_name', ' FROM lake.tpch.region') },
  { name: 'columns with their table', of: repeated('SELECT 1', ',lake.tpch.region.r_name', ' FROM lake.tpch.region') },
  { name: 'tables', of: numbered('SELECT 1 FROM lake.tpch.region', (i) => `,lake.tpch.region t${i}`) },
  { name: 'tables that are none', of: numbered('SELECT 1 FROM lake.tpch.none', (i) => `,lake.tpch.none${i}`) },
  { name: 'branches', of: repeated('SELECT 1', ' UNION ALL SELECT 1') },
  { name: 'branches with a table', of: repeated('TABLE lake.tpch.region', ' UNION ALL TABLE lake.tpch.region') },
  { name: 'queries with names', of: numbered('WITH a AS (SELECT 1)', (i) => `,a${i} AS (SELECT 1)`, ' SELECT 1') },
  { name: 'one text', of: repeated("SELECT length('", 'x', "')") },
  { name: 'one text of wide characters', of: repeated("SELECT length('", '\u20ac', "')") },
  { name: 'one text of escapes', of: repeated("SELECT length(E'", '\\x41', "')") },
  { name: 'a masked text of quotes', of: repeated("EXECUTE p('", "''", "')") },
  { name: 'masked texts', of: repeated("EXECUTE p('a'", ",'ab'", ')') },
  { name: 'masked texts about users', of: repeated("CREATE USER a 'a'", ",'ab'") },
  { name: 'masked texts that are never closed', of: repeated("CREATE USER a 'a'", ",'ab'", ",'") },
  { name: 'lines before an error', of: repeated('SELECT 1', '\n', ' FROM WHERE') },
  { name: 'lines of text before an error', of: repeated('SELECT 1', ',1\n', ' FROM WHERE') },
  { name: 'comments', of: repeated('SELECT 1', '/**/') },
  { name: 'wide spaces', of: repeated('SELECT 1', '\u00a0+\u20001') },
  { name: 'a second statement', of: repeated('SELECT 1', ' ', ';SELECT 2') },
  { name: 'nothing', of: repeated('', ' ') },
  { name: 'semicolons', of: repeated('SELECT 1', ';') },
  { name: 'a setting', of: repeated("SET timezone = '", 'x', "'") },
  { name: 'a pattern of tables', of: repeated("SHOW TABLES FROM lake.tpch LIKE '", '%a', "'") },
  {
    name: 'the plan of a list',
    of: numbered('EXPLAIN SELECT 1 FROM lake.tpch.region WHERE r_regionkey IN (-1', (i) => `,${i}`, ')'),
  },
  { name: 'what columns there are', of: numbered('DESCRIBE SELECT 0 AS c', (i) => `,${i} AS c${i}`) },
  { name: 'a statement that is not served', of: numbered('INSERT INTO t VALUES (-1)', (i) => `,(${i})`) },
];

/**
 * Statements that change rows of `lake.tpch.parts`, whose parts a planner checks. Each is served while it is short, and changes nothing that a
 * later one looks for.
 */
export const LARGE_WRITES: readonly LargeStatement[] = [
  {
    name: 'an UPDATE of conditions',
    of: numbered('UPDATE lake.tpch.parts SET b = 5 WHERE a = 0', (i) => ` OR a+${i} = -1`),
  },
  {
    name: 'a MERGE of a condition',
    of: numbered(
      'MERGE INTO lake.tpch.parts p USING (SELECT 5 AS x) u ON p.a = u.x AND p.b NOT IN (-1',
      (i) => `,-${i}`,
      ') WHEN MATCHED THEN UPDATE SET b = u.x',
    ),
  },
  { name: 'an INSERT of rows', of: numbered('INSERT INTO lake.tpch.parts VALUES (7, 7)', (i) => `,(${i}, 7)`) },
  {
    name: 'an INSERT of expressions',
    of: numbered('INSERT INTO lake.tpch.parts VALUES (7, 7)', (i) => `,(${i} + 1, 7)`),
  },
  {
    name: 'a DELETE of a list beside a subquery',
    of: repeated(
      'DELETE FROM lake.tpch.parts WHERE a IN (SELECT count(*) FROM lake.tpch.region) AND b IN (1',
      ', (1)',
      ')',
    ),
  },
  {
    name: 'columns of a stage',
    of: repeated('COPY INTO lake.tpch.parts FROM (SELECT $1', ', $1', ' FROM @lake.tpch.none)'),
  },
];
