import { must } from '#shared/must.ts';

/** Statements of one class; each draw is another one. Large values are made at run time, so that the text does not show their size. */
export type StatementClass = { readonly name: string; readonly draw: (random: () => number) => string };

/** A whole number from `min` to `max`. */
export const between = (random: () => number, min: number, max: number): number =>
  min + Math.floor(random() * (max - min + 1));

export const oneOf = <T>(random: () => number, items: readonly T[]): T =>
  must(items[Math.floor(random() * items.length)], 'an item');

/** Characters that JSON, headers, logs, patterns and DuckDB's own folding treat in their own way. */
const ODD = [
  'x',
  'é',
  '🦆',
  '\n',
  '%',
  '\\',
  '"',
  "'",
  ' ',
  '\u0001',
  '\u007f',
  '\u212a',
  '\u0130',
  '\u202e',
  '\ufeff',
] as const;

const oddText = (random: () => number, length: number): string =>
  Array.from({ length }, () => oneOf(random, ODD)).join('');
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;
const name = (text: string): string => `"${text.replaceAll('"', '""')}"`;
const nested = (depth: number, open: string, core: string, close: string): string =>
  open.repeat(depth) + core + close.repeat(depth);

export const HOSTILE_STATEMENTS: readonly StatementClass[] = [
  {
    name: 'a long text of an error',
    draw: (r) => `SELECT error(repeat(${literal(oddText(r, 4))}, ${between(r, 1e3, 2e5)} + i::INT)) FROM range(1) t(i)`,
  },
  {
    name: 'a long text that is no number',
    draw: (r) =>
      `SELECT CAST(repeat(${literal(oddText(r, 3))}, ${between(r, 1e3, 1e6)}) || i AS INT) FROM range(1) t(i)`,
  },
  {
    name: 'texts of one vector that need more than there is',
    draw: (r) =>
      `SELECT sum(length(repeat('x' || i, ${between(r, 1e4, 1e7)}))) FROM range(${between(r, 1e3, 1e5)}) t(i)`,
  },
  {
    name: 'a list that needs more than there is',
    draw: (r) =>
      `SELECT length(list(repeat('x', ${between(r, 100, 1e4)}) || i)) FROM range(${between(r, 1e5, 1e7)}) t(i)`,
  },
  {
    name: 'one text of many',
    draw: (r) =>
      `SELECT length(string_agg(repeat('x', ${between(r, 100, 1e4)}), '')) FROM range(${between(r, 1e5, 1e7)})`,
  },
  {
    name: 'a large sort',
    draw: (r) =>
      `SELECT max(h) FROM (SELECT hash(i) AS h FROM range(${between(r, 1e6, 3e7)}) t(i) ORDER BY h OFFSET 1000)`,
  },
  {
    name: 'many groups',
    draw: (r) =>
      `SELECT count(*) FROM (SELECT i % ${between(r, 1e5, 1e8)} AS k, list(i) FROM range(30000000) t(i) GROUP BY k)`,
  },
  {
    name: 'rows without end',
    draw: (r) => `SELECT max(hash(n + ${between(r, 0, 1e6)})) FROM range(1000000000000) r(n)`,
  },
  {
    name: 'a product without end',
    draw: (r) => `SELECT count(*) FROM range(${between(r, 1e5, 1e7)}) a(i), range(1000000) b(j) WHERE (i * j) % 7 = 3`,
  },
  {
    name: 'a recursion without end',
    draw: () => 'WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT max(n) FROM r',
  },
  { name: 'a large result', draw: (r) => `SELECT i, repeat('y', ${between(r, 10, 1e3)}) FROM range(3000000) t(i)` },
  { name: 'deep brackets', draw: (r) => `SELECT ${nested(between(r, 10, 3e3), '(', '1', ')')}` },
  { name: 'deep lists', draw: (r) => `SELECT ${nested(between(r, 10, 900), '[', '1', ']')}` },
  { name: 'deep cases', draw: (r) => `SELECT ${nested(between(r, 10, 900), 'CASE WHEN true THEN ', '1', ' END')}` },
  { name: 'deep queries', draw: (r) => nested(between(r, 10, 500), 'SELECT * FROM (', 'SELECT 1', ')') },
  {
    name: 'deep JSON',
    draw: (r) => `SELECT json_extract(repeat('[', ${between(r, 10, 1e5)} + i::INT), '$[0][0]') FROM range(1) t(i)`,
  },
  { name: 'an odd name', draw: (r) => `SELECT 1 AS ${name(oddText(r, between(r, 1, 400)))}` },
  { name: 'an odd table', draw: (r) => `SELECT * FROM ${name(oddText(r, between(r, 1, 400)))}` },
  {
    name: 'a view of the system by an odd name',
    draw: () =>
      'WITH "duc\u212adb_databases" AS (SELECT 1) SELECT finalize(sum(1) EXPORT_STATE) FROM duckdb_databases()',
  },
  { name: 'noise', draw: (r) => oddText(r, between(r, 1, 5_000)) },
  {
    name: 'many columns',
    draw: (r) =>
      `SELECT ${Array.from({ length: between(r, 10, 3_000) }, (_, i) => `i+${i}`).join()} FROM range(10) t(i)`,
  },
  {
    name: 'constants that take long to fold',
    draw: (r) => `SELECT levenshtein(repeat('a', ${between(r, 1e4, 3e5)}), repeat('b', ${between(r, 1e4, 3e5)}))`,
  },
];

/** One step of each takes longer than any statement may: a worker's process may end because of them and be replaced. */
export const STUCK_STATEMENTS: readonly StatementClass[] = [
  {
    name: 'a pattern of many wildcards',
    draw: (r) =>
      `SELECT repeat('a', ${between(r, 1e3, 4e3)} + i::INT) LIKE repeat('%a', ${between(r, 100, 1_200)}) || 'b' FROM range(1) t(i)`,
  },
  {
    name: 'the distance of long texts',
    draw: (r) =>
      `SELECT levenshtein(repeat('a', ${between(r, 1e4, 2e5)} + i::INT), repeat('b', ${between(r, 1e4, 2e5)})) FROM range(1) t(i)`,
  },
  {
    name: 'a sort of one long list',
    draw: (r) => `SELECT list_sort(range(${between(r, 1e6, 1e8)} + i))[1] FROM range(1) t(i)`,
  },
  {
    name: 'the likeness of long texts',
    draw: (r) =>
      `SELECT jaccard(repeat('ab', ${between(r, 1e5, 1e7)} + i::INT), repeat('ba', ${between(r, 1e5, 1e7)})) FROM range(1) t(i)`,
  },
];
