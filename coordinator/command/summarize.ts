import { quoteLiteral } from '#shared/sql/quote.ts';
import type { SqlType } from '../plan/sql-type.ts';
import type { TextSpan } from '../statement/statement.ts';
import type { QueryColumn } from '../session/prepared-statement.ts';
import type { Command } from './command.ts';
import { startsQuery } from './query-words.ts';

/** `SUMMARIZE [TABLE] t` and `SUMMARIZE query`: a row of statistics for each column, as DuckDB's. */
export const summarize: Command<{ readonly query: TextSpan }> = {
  words: ['SUMMARIZE'],
  queryType: 'select',
  timeout: 'session',
  parse(reader) {
    reader.word();
    if (startsQuery(reader)) return { query: reader.takeRest() };
    reader.takeWord('TABLE');
    const name = reader.rest();
    reader.name('a table', 3);
    reader.end();
    return { query: within('FROM ', name, '') };
  },
  action: () => 'table.select',
  async describe({ query }, { queries }) {
    const { columns, parameters } = await queries.describe(query);
    return columns === null
      ? { columns, parameters }
      : { ...(await queries.describe(summary(query, columns))), parameters };
  },
  async run({ query }, { queries }) {
    return queries.run(summary(query, await queries.columns(query)));
  },
};

/** Puts a text between two others; positions in it remain positions in the statement. */
const within = (before: string, { text, offset }: TextSpan, after: string): TextSpan => ({
  text: before + text + after,
  offset: offset - before.length,
});

/**
 * The query that summarises another one: DuckDB's own expansion of SUMMARIZE, except that columns of the same name stay separate.
 *
 *     SELECT unnest(['a', 'b']) AS column_name, unnest([min(c0), min(c1)]) AS "min", ... FROM (<query>) AS summary(c0, c1)
 */
function summary(query: TextSpan, columns: readonly QueryColumn[]): TextSpan {
  const lists = STATISTICS.map(
    ([name, of]) => `unnest([${columns.map((column, i) => of(`c${i}`, column)).join(', ')}]) AS "${name}"`,
  );
  const names = columns.map((_, i) => `c${i}`).join(', ');
  return within(`SELECT ${lists.join(', ')} FROM (`, query, `) AS summary(${names})`);
}

type Statistic = (column: string, about: QueryColumn) => string;

const text = (expression: string): string => `CAST(${expression} AS VARCHAR)`;

const quantile =
  (share: string): Statistic =>
  (column, { type }) =>
    isNumber(type) || isTime(type) ? text(`approx_quantile(${column}, ${share})`) : 'NULL';

const STATISTICS: readonly (readonly [string, Statistic])[] = [
  ['column_name', (_, { name }) => quoteLiteral(name)],
  ['column_type', (column) => `typeof(min(${column}))`],
  ['min', (column) => text(`min(${column})`)],
  ['max', (column) => text(`max(${column})`)],
  ['approx_unique', (column) => `CAST(approx_count_distinct(${column}) AS BIGINT)`],
  ['avg', (column, { type }) => (isNumber(type) || isTime(type) ? text(`avg(${column})`) : 'NULL')],
  ['std', (column, { type }) => (isNumber(type) ? text(`stddev(${column})`) : 'NULL')],
  ['q25', quantile('0.25')],
  ['q50', quantile('0.50')],
  ['q75', quantile('0.75')],
  ['count', () => 'count(*)'],
  [
    'null_percentage',
    (column) =>
      `CAST(CASE WHEN count(*) > 0 THEN (1 - CAST(count(${column}) AS DOUBLE) / CAST(count(*) AS DOUBLE)) * 100 END AS DECIMAL(9, 2))`,
  ],
];

const isNumber = (type: SqlType): boolean =>
  type.kind === 'decimal' ||
  (type.kind === 'scalar' && /^(?:U?(?:TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)|FLOAT|DOUBLE)$/.test(type.name));

const isTime = (type: SqlType): boolean => type.kind === 'scalar' && /^(?:DATE|TIME|TIMESTAMP)\b/.test(type.name);
