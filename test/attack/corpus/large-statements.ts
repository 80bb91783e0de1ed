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
